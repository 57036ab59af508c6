"""A mixture at load time: whose row stands where in the stream, by weight. Integers only.

What enters: the rows of each set, and weights. What leaves: an order over the rows of all sets, end to end, that is
as pure in the position as that of one set: any stretch of the stream has each set's share of rows to within a row or
two, and a set's own rows come epoch after epoch, each a shuffle of its own. So a row number resumes a mixture too.

The stream is blocks of 65,536 positions with one pattern: set k has counts[k] of them, evenly spaced.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gristmill.errors import RecipeError
from gristmill.kernels.bijection import derive_key
from gristmill.loader.cursor import I64, Order

BLOCK = 1 << 16

WeightedPaths = Sequence[tuple[str | os.PathLike[str], float]]


class Drawn(NamedTuple):
    """What a mixture has taken of one set."""

    requested_ratio: float
    achieved_ratio: float
    rows: int
    epochs: float  # rows / the rows that the set has


class _Pattern(NamedTuple):
    set_of: I64  # of each position of a block
    before: I64  # how many positions of the block before it have that set


@dataclass(frozen=True)
class MixedOrder:
    """From positions to row numbers of all sets, end to end. An epoch is as many rows as all sets have together."""

    rows_of_sets: tuple[int, ...]
    counts: tuple[int, ...]  # positions of each set in a block
    weights: tuple[float, ...]  # as asked for
    shuffle_seed: int | None

    @property
    def rows(self) -> int:
        """Rows of all sets."""
        return sum(self.rows_of_sets)

    def identity(self) -> dict[str, Any]:
        """What decides the order, beside the rows."""
        return {"shuffle_seed": self.shuffle_seed, "rows_a_block": list(self.counts)}

    def rows_at(self, positions: I64) -> I64:
        """The rows at these ascending positions."""
        blocks, places = np.divmod(positions, BLOCK)
        which = self._pattern.set_of[places]
        index = blocks * np.array(self.counts)[which] + self._pattern.before[places]
        numbers: I64 = np.empty(len(index), np.int64)
        for number, (order, first_row) in enumerate(self._orders):
            of_set = which == number
            if of_set.any():
                numbers[of_set] = first_row + order.rows_at(index[of_set])
        return numbers

    def drawn(self, position: int) -> tuple[Drawn, ...]:
        """What the positions before this one take of each set."""
        blocks, place = divmod(position, BLOCK)
        of_rest = np.bincount(self._pattern.set_of[:place], minlength=len(self.counts)).tolist()
        taken = [blocks * count + rest for count, rest in zip(self.counts, of_rest, strict=True)]
        return tuple(
            Drawn(weight / sum(self.weights), rows / max(position, 1), rows, rows / of_set)
            for weight, rows, of_set in zip(self.weights, taken, self.rows_of_sets, strict=True)
        )

    @cached_property
    def _pattern(self) -> _Pattern:
        # Set k's i-th position is where (i + 1/2) / counts[k] of the block has gone by. One correctly rounded division
        # each: the same on every machine, and equal for equal fractions, where the first set goes first.
        counts = np.array(self.counts)
        before = np.concatenate([np.arange(count) for count in self.counts])
        set_of = np.repeat(np.arange(len(counts)), counts)
        order = np.argsort((2 * before + 1) / (2 * counts[set_of]), kind="stable")
        return _Pattern(set_of[order], before[order])

    @cached_property
    def _orders(self) -> tuple[tuple[Order, int], ...]:
        first_rows = np.cumsum([0, *self.rows_of_sets]).tolist()
        seeds = [
            None if self.shuffle_seed is None else int(derive_key(self.shuffle_seed, number))
            for number in range(len(self.rows_of_sets))
        ]
        return tuple(
            (Order(rows, seed), first) for rows, seed, first in zip(self.rows_of_sets, seeds, first_rows, strict=False)
        )


def mixed_order(rows_of_sets: Sequence[int], weights: Sequence[float], shuffle_seed: int | None) -> MixedOrder:
    """The order of a mixture. Raises RecipeError for weights that cannot be.

    Positions of a block go by largest remainder, so requested and achieved shares differ by less than 1 / BLOCK.
    """
    total = math.fsum(weights) if all(isinstance(weight, int | float) for weight in weights) else math.nan
    problems = [
        f"weights[{number}]: expected a number above 0, found {weight!r}"
        for number, weight in enumerate(weights)
        if not (isinstance(weight, int | float) and 0 < weight < math.inf)
    ]
    if not weights:
        raise RecipeError("expected one pack or more, found none")
    if problems:
        raise RecipeError("expected a weight for each pack, found others", problems)
    exact = [weight / total * BLOCK for weight in weights]
    counts = [int(share) for share in exact]
    by_remainder = sorted(range(len(exact)), key=lambda number: counts[number] - exact[number])
    for number in by_remainder[: BLOCK - sum(counts)]:
        counts[number] += 1
    if 0 in counts:
        number = counts.index(0)
        raise RecipeError(
            f"expected weights of which each is a 1/{BLOCK:,} of the whole or more, found {weights[number]} "
            f"of {total}: weights[{number}]"
        )
    return MixedOrder(tuple(rows_of_sets), tuple(counts), tuple(map(float, weights)), shuffle_seed)

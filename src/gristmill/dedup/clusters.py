"""Pairs to clusters, and who of each stays. Memory-mapped scratch files of 8 to 28 bytes a row read hold it all.

What enters: pairs of positions, in any order. What leaves: for each position that goes, the one that stays for it;
and how big clusters are. Guaranteed: a function of the set of pairs, whatever their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.formats.pairs import Positions
from gristmill.formats.scratch_array import scratch_array

EARLIER = 0  # the position that stands for all documents of earlier runs
LARGEST = 20  # clusters that are told one by one
_MEMBERS_TOLD = 10
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Cluster:
    """One of the largest clusters."""

    size: int
    members: list[int]  # the first few positions


class Clusters:
    """Clusters of the positions 1 to `rows`, in scratch files that go with their folder."""

    def __init__(self, rows: int, scratch: Path) -> None:
        self._scratch = scratch
        self._roots = self._array("roots", np.int64, rows + 1)
        for start in range(0, rows + 1, _BLOCK):
            stop = min(start + _BLOCK, rows + 1)
            self._roots[start:stop] = np.arange(start, stop)
        self._best: Any = None

    def _array(self, name: str, kind: Any, length: int) -> npt.NDArray[Any]:
        return scratch_array(self._scratch / name, kind, length)

    def add(self, pairs: Iterable[tuple[Positions, Positions]]) -> None:
        """Put the two of each pair into one cluster."""
        from gristmill.kernels.unions import unite

        for lowest, others in pairs:
            unite(self._roots, lowest, others)

    def close(self) -> None:
        """No more pairs: from now on clusters can be asked for."""
        from gristmill.kernels.unions import count_members, flatten

        flatten(self._roots)
        self._sizes = self._array("sizes", np.uint32, len(self._roots))
        count_members(self._roots, self._sizes)

    def rank(self, ranks: Iterable[tuple[int, npt.NDArray[np.float64]]]) -> None:
        """Let the document of the highest rank stay, and not the lowest. For stretches of positions: the first, and
        the ranks."""
        from gristmill.kernels.unions import rank_members

        self._best = self._array("best", np.int64, len(self._roots))
        best_rank = self._array("best_rank", np.float64, len(self._roots))
        for first, values in ranks:
            rank_members(self._roots, first, values, best_rank, self._best)

    def gone(self, first: int, rows: int) -> tuple[Positions, Positions]:
        """Of the positions from `first` on: those that go, and for each the one that stays (0: of an earlier run)."""
        roots = self._roots[first : first + rows]
        positions = np.arange(first, first + rows)
        together = np.flatnonzero((self._sizes[roots] > 1) | (roots == EARLIER))
        stays = roots[together]
        if self._best is not None:
            stays = np.where(stays == EARLIER, EARLIER, self._best[stays])
        goes = stays != positions[together]
        return positions[together][goes], stays[goes]

    def members(self, first: int, rows: int) -> tuple[Positions, Positions]:
        """Of the positions from `first` on: those that are not alone, and their clusters' roots."""
        roots = self._roots[first : first + rows]
        together = np.flatnonzero(self._sizes[roots] > 1)
        return first + together, roots[together]

    def sizes(self) -> dict[int, int]:
        """How many clusters there are of each size from 2 on; those with a document of an earlier run do not count."""
        found: Counter[int] = Counter()
        for block in self._blocks(self._sizes):
            sizes, counts = np.unique(block[block > 1], return_counts=True)
            found.update(dict(zip(sizes.tolist(), counts.tolist(), strict=True)))
        return dict(sorted(found.items()))

    def seen_before(self) -> int:
        """How many positions are in one cluster with a document of an earlier run."""
        return int(self._sizes[EARLIER]) - 1

    def largest(self) -> list[Cluster]:
        """The largest clusters, of equal ones those that begin first."""
        tops: list[tuple[int, int]] = []
        first = 1
        for block in self._blocks(self._sizes):
            roots = np.flatnonzero(block > max(1, tops[-1][0] if len(tops) == LARGEST else 1))
            roots = roots[np.argsort(-block[roots].astype(np.int64), kind="stable")[:LARGEST]]
            found = [*tops, *((int(block[root]), first + int(root)) for root in roots)]
            tops = sorted(found, key=lambda item: (-item[0], item[1]))[:LARGEST]
            first += len(block)
        members: dict[int, list[int]] = {root: [] for _, root in tops}
        wanted = np.array(sorted(members), np.int64)
        first = 1
        for block in self._blocks(self._roots):
            for at in np.flatnonzero(np.isin(block, wanted)):
                if len(told := members[int(block[at])]) < _MEMBERS_TOLD:
                    told.append(first + int(at))
            first += len(block)
        return [Cluster(size, members[root]) for size, root in tops]

    def _blocks(self, array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
        for start in range(1, len(array), _BLOCK):
            yield array[start : start + _BLOCK]

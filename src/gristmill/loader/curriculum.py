"""A mixture in stages at load time: the rows of the first stage, then those of the second, and so on. Integers only.

What enters: the rows of each stage. What leaves: an order over the rows of all stages, end to end, that is as pure in
the position as that of one pack. An epoch is all stages once, in sequence; each is shuffled within itself, anew in
every epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gristmill.kernels.bijection import derive_key
from gristmill.loader.cursor import I64, Order


@dataclass(frozen=True)
class StagedOrder:
    """From positions to row numbers of all stages, end to end."""

    rows_of_stages: tuple[int, ...]
    shuffle_seed: int | None

    @property
    def rows(self) -> int:
        """Rows of all stages."""
        return sum(self.rows_of_stages)

    def identity(self) -> dict[str, Any]:
        """What decides the order, beside the rows."""
        return {"shuffle_seed": self.shuffle_seed}

    def rows_at(self, positions: I64) -> I64:
        """The rows at these ascending positions."""
        epochs, places = np.divmod(positions, self.rows)
        begins = np.cumsum([0, *self.rows_of_stages])
        stages = np.searchsorted(begins[1:], places, side="right")
        numbers = np.empty_like(places)
        for stage, order in enumerate(self._orders):
            of_stage = stages == stage
            if of_stage.any():
                within = epochs[of_stage] * order.rows + places[of_stage] - begins[stage]
                numbers[of_stage] = begins[stage] + order.rows_at(within)
        return numbers

    @cached_property
    def _orders(self) -> tuple[Order, ...]:
        seed = self.shuffle_seed
        seeds = [None if seed is None else int(derive_key(seed, number)) for number in range(len(self.rows_of_stages))]
        return tuple(Order(rows, of_stage) for rows, of_stage in zip(self.rows_of_stages, seeds, strict=True))

"""Which row stands where in the stream, and whose it is: integers only.

The stream is positions 0, 1, 2, ...: epoch after epoch, each a shuffle of all rows of its own. Everybody (every
rank, every worker, every resumed job) computes the same stream; a share is a rule that cuts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gristmill.kernels.bijection import derive_key, permute

I64 = npt.NDArray[np.int64]


class RowOrder(Protocol):
    """From positions of a stream to row numbers: pure, so that one integer resumes it."""

    @property
    def rows(self) -> int:
        """Rows of an epoch."""

    def identity(self) -> dict[str, Any]:
        """What decides the order, beside the rows."""

    def rows_at(self, positions: I64) -> I64:
        """The rows at these ascending positions."""


@dataclass(frozen=True)
class Order:
    """From positions to row numbers. Without a seed, every epoch has the rows as they were packed."""

    rows: int
    shuffle_seed: int | None

    def identity(self) -> dict[str, Any]:
        """What decides the order, beside the rows."""
        return {"shuffle_seed": self.shuffle_seed}

    def rows_at(self, positions: I64) -> I64:
        """The rows at these ascending positions."""
        epochs, places = np.divmod(positions, self.rows)
        if self.shuffle_seed is None or not len(positions):
            return places
        numbers = np.empty_like(places)
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            of_epoch = slice(*np.searchsorted(epochs, (epoch, epoch + 1)).tolist())
            numbers[of_epoch] = permute(places[of_epoch], self.rows, derive_key(self.shuffle_seed, epoch))
        return numbers


@dataclass(frozen=True)
class Share:
    """One rank's part of a span of positions, batch by batch.

    Global batch k is the k-th block of world_size * batch_size positions, whatever the world size; the ranks have
    equal contiguous parts of it. The last block of a span may be smaller: it is dropped with `drop_last`, else
    cut into parts that differ by at most one row, lower ranks first, so that high ranks may get none of it.
    """

    rank: int
    world_size: int
    batch_size: int
    drop_last: bool

    @property
    def global_batch(self) -> int:
        """Rows that all ranks take in one step."""
        return self.world_size * self.batch_size

    def steps(self, begin: int, end: int) -> int:
        """How many batches this rank has between two positions."""
        full, rest = divmod(end - begin, self.global_batch)
        return full + (not self.drop_last and rest > self.rank)

    def positions(self, begin: int, end: int, step: int) -> I64:
        """The positions of this rank's batch number `step`, counted from `begin`."""
        block = begin + step * self.global_batch
        size = min(self.global_batch, end - block)
        each, left_over = divmod(size, self.world_size)
        first = self.rank * each + min(self.rank, left_over)
        last = first + each + (self.rank < left_over)
        return np.arange(block + first, block + last, dtype=np.int64)

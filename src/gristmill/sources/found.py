"""What a kernel found in a block: records, verdicts on them, and where the wanted values stand.

What enters: the room that a kernel is to fill. What leaves: the columns that the spans stand for, as buffers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.document import Bytes, Offsets
from gristmill.kernels.vector import PADDING_BYTES

Flags = npt.NDArray[np.bool_]


class Found:
    """Room for `capacity` records with so many values each; later, as many as there were."""

    def __init__(self, capacity: int, values: int) -> None:
        self.lines = np.empty(capacity, np.int64)
        self.verdicts = np.empty(capacity, np.uint8)
        self.kinds: npt.NDArray[np.uint8] = np.empty((values, capacity), np.uint8)
        self.starts: npt.NDArray[np.int64] = np.empty((values, capacity), np.int64)
        self.stops: npt.NDArray[np.int64] = np.empty((values, capacity), np.int64)

    @property
    def room(self) -> tuple[Any, ...]:
        """The arrays, flat, in the order in which the kernels take them."""
        return self.lines, self.verdicts, *(each.reshape(-1) for each in (self.kinds, self.starts, self.stops))

    def keep(self, count: int) -> None:
        """Forget the room behind the first `count` records."""
        self.lines, self.verdicts = self.lines[:count], self.verdicts[:count]
        self.kinds = self.kinds[:, :count]
        self.starts, self.stops = self.starts[:, :count], self.stops[:, :count]


def column(
    copy: Callable[..., Any], block: Bytes, starts: Offsets, stops: Offsets, *more: Any
) -> tuple[Offsets, Bytes]:
    """The buffers of the column that a kernel (one that makes nothing longer) copies from the spans of a block."""
    offsets = np.empty(len(starts) + 1, np.int64)
    data = np.empty(int((stops - starts).sum()) + PADDING_BYTES, np.uint8)
    copy(block, starts, stops, *more, offsets, data)
    return offsets, data

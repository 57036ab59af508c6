"""Counting short byte strings, 64 positions at a time.

What enters: the address of some bytes with PADDING_BYTES and the needle's length readable behind them.
"""

from __future__ import annotations

import numpy as np

from gristmill.kernels.compile import inline
from gristmill.kernels.vector import PADDING_BYTES, count_bits, equal64, first_bit


@inline
def _inside(found, at, stop):
    """Only the bits of positions before `stop`."""
    if stop - at < PADDING_BYTES:
        found &= ~(~np.uint64(0) << np.uint64(max(stop - at, 0)))
    return found


@inline
def count_byte(data, at, stop, byte):
    """How often a byte stands in data[at:stop]."""
    count = np.int64(0)
    while at < stop:
        count += count_bits(_inside(equal64(data, at, byte), at, stop))
        at += PADDING_BYTES
    return count


@inline
def count_three(data, at, stop, first, second, third):
    """How often three bytes stand in data[at:stop] one behind another, as str.count() counts: without overlap."""
    count = np.int64(0)
    free = at
    while at < stop - 2:
        found = equal64(data, at, first) & equal64(data, at + 1, second) & equal64(data, at + 2, third)
        found = _inside(found, at, stop - 2)
        while found:
            position = at + first_bit(found)
            if position >= free:
                count += 1
                free = position + 3
            found &= found - np.uint64(1)
        at += PADDING_BYTES
    return count

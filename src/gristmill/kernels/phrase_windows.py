"""Where in a text a phrase may begin, told from a few bytes: so that most of a text need not be read.

What enters: the ways to write the beginning of every phrase, in bytes; the address of a text. What leaves: places.
Guaranteed: wherever a phrase stands, one of its first `step` bytes is such a place. Only every `step`-th byte is looked
at, and of what begins there up to four bytes, in which the bit that parts ASCII's capitals from small letters is set.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_IN, inline
from gristmill.kernels.vector import address

WINDOW_BYTES, _LONGEST_STEP = 4, 4
LONGEST_BEGINNING = WINDOW_BYTES + _LONGEST_STEP - 1
_CASE_BITS = 0x20202020
_ODD = 0x9E3779B97F4A7C15
_FEWEST_BITS, _MOST_BITS, _SPARSENESS = 13, 20, 32


class Windows(NamedTuple):
    """`step` is 0 where nothing is known and everything has to be read."""

    table: npt.NDArray[np.uint8]  # hash of a window → 1 if a phrase has it
    shift: int  # how many bits of a hash are left out
    mask: int  # of a window: the bytes that are looked at
    step: int


WINDOWS = types.NamedTuple([BYTES_IN, types.int64, types.int64, types.int64], Windows)


def _read_only(table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    table.flags.writeable = False
    return table


NOTHING_KNOWN = Windows(_read_only(np.zeros(0, np.uint8)), 0, 0, 0)


def windows_of(beginnings: Collection[bytes]) -> Windows:
    """For phrases that begin so. A beginning is a whole phrase, or LONGEST_BEGINNING bytes of one at least."""
    shortest = min(map(len, beginnings))
    size = min(WINDOW_BYTES, shortest)
    step = min(_LONGEST_STEP, shortest - size + 1)
    mask = (1 << 8 * size) - 1
    windows = {
        (int.from_bytes(beginning[at : at + size], "little") | _CASE_BITS) & mask
        for beginning in beginnings
        for at in range(step)
    }
    bits = _FEWEST_BITS
    while bits < _MOST_BITS and 1 << bits < _SPARSENESS * len(windows):
        bits += 1
    table = np.zeros(1 << bits, np.uint8)
    for window in windows:
        table[window * _ODD % 2**64 >> 64 - bits] = 1
    return Windows(_read_only(table), 64 - bits, mask, step)


@inline
def next_place(windows, data, at, stop):
    """The next place, or `stop` or more; WINDOW_BYTES behind `stop` are readable."""
    table = address(windows.table)
    mask, shift = np.uint64(windows.mask), np.uint64(windows.shift)
    while at < stop:
        window = np.uint64(data[at])
        for near in range(1, WINDOW_BYTES):
            window |= np.uint64(data[at + near]) << np.uint64(8 * near)
        if table[((window | np.uint64(_CASE_BITS)) & mask) * np.uint64(_ODD) >> shift]:
            return at
        at += windows.step
    return at

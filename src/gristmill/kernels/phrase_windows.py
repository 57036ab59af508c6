"""Where in a text a phrase may begin, told from a few bytes: so that most of a text need not be read.

What enters: the ways to write the beginning of every phrase, in bytes; the address of a text. What leaves: places.
Guaranteed: wherever a phrase stands, one of its first `step` bytes is such a place. Only every `step`-th byte is looked
at, and of what begins there up to four bytes, in which the bit that parts ASCII's capitals from small letters is set;
and eight bytes, where phrases with these four are that long. In a MB of Vietnamese four bytes alone find 11,300 places
for the built-in list, with the eight 570 are left.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_IN, inline
from gristmill.kernels.spans import load64
from gristmill.kernels.vector import address

WINDOW_BYTES, _LONGEST_STEP = 4, 4
_WIDE_BYTES = 8
LONGEST_BEGINNING = _WIDE_BYTES + _LONGEST_STEP - 1
_CASE_BITS = 0x2020202020202020
_SETTLED, _WIDER = 1, 2
_ODD = 0x9E3779B97F4A7C15
_FEWEST_BITS, _MOST_BITS, _SPARSENESS = 13, 20, 32


class Windows(NamedTuple):
    """`step` is 0 where nothing is known and everything has to be read."""

    table: npt.NDArray[np.uint8]  # hash of a window → _SETTLED if a phrase has it, _WIDER if only as part of a wide one
    wide: npt.NDArray[np.uint8]  # hash of a wide window → _SETTLED if a phrase has it
    shift: int  # how many bits of a hash are left out
    mask: int  # of a window: the bytes that are looked at
    step: int


WINDOWS = types.NamedTuple([BYTES_IN, BYTES_IN, types.int64, types.int64, types.int64], Windows)


def _read_only(table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    table.flags.writeable = False
    return table


NOTHING_KNOWN = Windows(_read_only(np.zeros(0, np.uint8)), _read_only(np.zeros(0, np.uint8)), 0, 0, 0)


def windows_of(beginnings: Collection[bytes]) -> Windows:
    """For phrases that begin so. A beginning is a whole phrase, or LONGEST_BEGINNING bytes of one at least."""
    shortest = min(map(len, beginnings))
    size = min(WINDOW_BYTES, shortest)
    step = min(_LONGEST_STEP, shortest - size + 1)
    places = [(beginning, at) for beginning in beginnings for at in range(step)]
    wide = {
        beginning[at : at + _WIDE_BYTES]: _SETTLED for beginning, at in places if at + _WIDE_BYTES <= len(beginning)
    }
    windows = {beginning[at : at + size]: _WIDER for beginning, at in places}
    windows.update(
        (beginning[at : at + size], _SETTLED) for beginning, at in places if at + _WIDE_BYTES > len(beginning)
    )
    bits = _FEWEST_BITS
    while bits < _MOST_BITS and 1 << bits < _SPARSENESS * len(wide | windows):
        bits += 1
    return Windows(_table(windows, bits), _table(wide, bits), 64 - bits, (1 << 8 * size) - 1, step)


def _table(windows: Mapping[bytes, int], bits: int) -> npt.NDArray[np.uint8]:
    """Hash → the least number of the windows that have it."""
    table = np.zeros(1 << bits, np.uint8)
    for window, number in windows.items():
        mask = (1 << 8 * len(window)) - 1
        slot = ((int.from_bytes(window, "little") | _CASE_BITS) & mask) * _ODD % 2**64 >> 64 - bits
        table[slot] = min(number, int(table[slot]) or number)
    return _read_only(table)


@inline
def next_place(windows, data, at, stop):
    """The next place, or `stop` or more; _WIDE_BYTES behind `stop` are readable."""
    table, wide = address(windows.table), address(windows.wide)
    mask, shift = np.uint64(windows.mask), np.uint64(windows.shift)
    while at < stop:
        window = load64(data, at) | np.uint64(_CASE_BITS)
        found = table[(window & mask) * np.uint64(_ODD) >> shift]
        if found and (found == _SETTLED or wide[window * np.uint64(_ODD) >> shift]):
            return at
        at += windows.step
    return at

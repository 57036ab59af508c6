"""Lines as str.splitlines() has them, one after another, or all at once.

What enters: the address of valid UTF-8 with PADDING_BYTES readable behind it. What leaves: where the line that begins
at a position ends, and where the next one begins. Or: a string column, and the bounds of all its lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, LINE_END, character
from gristmill.kernels.compile import BYTES_IN, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.spans import with_padding
from gristmill.kernels.vector import PADDING_BYTES, address, below64, equal64, first_bit

_NEWLINE, _RETURN = 0x0A, 0x0D
_SPACE = 0x20  # ASCII line ends are below it
_NEXT_LINE_LEAD, _SEPARATOR_LEAD = 0xC2, 0xE2  # the first bytes of U+0085, and of U+2028 and U+2029


class Lines(NamedTuple):
    """The lines of document d are number first[d] to first[d + 1]; line n is data[start[n]:stop[n]]."""

    first: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]


@inline
def line_end(data, at, stop, characters):
    """The end of the line that begins at `at`, and the beginning of the next one: both `stop` in the last line."""
    while at < stop:
        found = below64(data, at, _SPACE) | equal64(data, at, _NEXT_LINE_LEAD) | equal64(data, at, _SEPARATOR_LEAD)
        while found:
            end = at + first_bit(found)
            if end >= stop:
                return stop, stop
            if data[end] == _NEWLINE:
                return end, end + 1
            here, width = character(data, end, characters)
            if here & LINE_END:
                after = end + width
                if data[end] == _RETURN and after < stop and data[after] == _NEWLINE:
                    after += 1
                return end, after
            found &= found - np.uint64(1)
        at += PADDING_BYTES
    return stop, stop


@inline
def count_lines(data, at, stop, characters):
    """How many lines there are; none in an empty text."""
    lines = np.int64(0)
    while at < stop:
        _, at = line_end(data, at, stop, characters)
        lines += 1
    return lines


@kernel(types.Tuple((I64_OUT, I64_OUT, I64_OUT))(I64_IN, BYTES_IN, CHARACTERS_IN))
def _split(offsets, bytes_, character_tables):
    characters = character_tables[0]
    data = address(bytes_)
    documents = offsets.size - 1
    first = np.zeros(documents + 1, np.int64)
    for document in range(documents):
        first[document + 1] = first[document] + count_lines(data, offsets[document], offsets[document + 1], characters)
    start = np.empty(first[documents], np.int64)
    stop = np.empty(first[documents], np.int64)
    line = np.int64(0)
    for document in range(documents):
        at = offsets[document]
        while at < offsets[document + 1]:
            start[line] = at
            stop[line], at = line_end(data, at, offsets[document + 1], characters)
            line += 1
    return first, start, stop


def split_lines(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Lines:
    """The lines of every document."""
    return Lines(*_split(offsets, with_padding(data, int(offsets[-1])), CHARACTERS))

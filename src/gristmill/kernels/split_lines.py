"""Lines as str.splitlines() has them, one after another.

What enters: the address of valid UTF-8 with PADDING_BYTES readable behind it. What leaves: where the line that begins
at a position ends, and where the next one begins.
"""

from __future__ import annotations

import numpy as np

from gristmill.kernels.characters import LINE_END, character
from gristmill.kernels.compile import inline
from gristmill.kernels.vector import PADDING_BYTES, below64, equal64, first_bit

_NEWLINE, _RETURN = 0x0A, 0x0D
_SPACE = 0x20  # ASCII line ends are below it
_NEXT_LINE_LEAD, _SEPARATOR_LEAD = 0xC2, 0xE2  # the first bytes of U+0085, and of U+2028 and U+2029


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

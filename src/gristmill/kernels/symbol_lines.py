"""Texts without their lines of nothing but symbols.

What enters: the buffers of a string column (valid UTF-8), the symbols, and what is to stand for a run of such lines.
What leaves: the buffers of the new column. Lines are str.splitlines()'s and come out with newlines between them, none
behind the last. A line of white space is no line of symbols, and a line of symbols may hold spaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, SPACE, TERMINAL, character, code_point, code_points
from gristmill.kernels.compile import BOOL_IN, BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.spans import with_padding
from gristmill.kernels.splice import copied
from gristmill.kernels.split_lines import count_lines, line_end
from gristmill.kernels.vector import PADDING_BYTES, address

_BLANK, _NEWLINE = 0x20, 0x0A
# What datatrove 0.10.1 calls punctuation beside the marks that end sentences: TERMINAL has those.
_PUNCTUATION = "\"#$%&'()*+,-/:;<=>@[\\]^_`{|}~«´»–—’“”„…∶━►、〈〉《》「」【】％（），１：；～"
_CONTROLS = (*range(9), *range(11, 32), *range(127, 160))


@lru_cache(maxsize=1)
def punctuation() -> npt.NDArray[np.int64]:
    """datatrove's set of punctuation, as code points: where its formatter begins unless it is told otherwise."""
    return np.union1d(code_points(TERMINAL), [*map(ord, _PUNCTUATION), *_CONTROLS])


@inline
def _is_among(code, sorted_codes):
    low, high = 0, sorted_codes.size
    while low < high:
        middle = (low + high) >> 1
        if sorted_codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low < sorted_codes.size and sorted_codes[low] == code


@inline
def _is_symbols(data, at, stop, in_ascii, symbols, characters):
    """Whether the line data[at:stop] is to go."""
    blank = True
    while at < stop:
        byte = data[at]
        if byte == _BLANK:
            at += 1
            continue
        if byte < 0x80:
            if not in_ascii[byte]:
                return False
        elif not _is_among(code_point(data, at)[0], symbols):
            return False
        here, width = character(data, at, characters)
        blank = blank and here & SPACE != 0
        at += width
    return not blank


@kernel(types.int64(I64_IN, BYTES_IN, CHARACTERS_IN))
def _count_lines(offsets, bytes_, character_tables):
    data = address(bytes_)
    lines = np.int64(0)
    for document in range(offsets.size - 1):
        lines += count_lines(data, offsets[document], offsets[document + 1], character_tables[0])
    return lines


@kernel(types.int64(*(I64_IN, BYTES_IN, CHARACTERS_IN, BOOL_IN, I64_IN, BYTES_IN, types.int64, I64_OUT, BYTES_OUT)))
def _remove(offsets, bytes_, character_tables, in_ascii, symbols, mark, mark_bytes, new_offsets, out_bytes):
    characters = character_tables[0]
    data, out, source = address(bytes_), address(out_bytes), address(mark)
    written = np.int64(0)
    new_offsets[0] = 0
    for document in range(offsets.size - 1):
        at, stop = offsets[document], offsets[document + 1]
        any_line = removing = False
        while at < stop:
            end, after = line_end(data, at, stop, characters)
            symbols_only = _is_symbols(data, at, end, in_ascii, symbols, characters)
            if not symbols_only or (mark_bytes and not removing):
                if any_line:
                    out[written] = _NEWLINE
                    written += 1
                any_line = True
                if symbols_only:
                    written = copied(out, written, source, 0, mark_bytes)
                else:
                    written = copied(out, written, data, at, end)
            removing = symbols_only
            at = after
        new_offsets[document + 1] = written
    return written


def remove_symbol_lines(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], symbols: Iterable[int], mark: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """`symbols` are code points. An empty `mark` leaves nothing where lines were, not even an empty line."""
    sorted_symbols = np.unique(np.fromiter(symbols, np.int64))
    in_ascii = np.isin(np.arange(128), sorted_symbols)
    data = with_padding(data, int(offsets[-1]))
    encoded = mark.encode()
    most_marks = _count_lines(offsets, data, CHARACTERS) if encoded else 0
    size = int(offsets[-1] - offsets[0]) + int(most_marks) * len(encoded) + PADDING_BYTES
    new_offsets, out = np.empty(len(offsets), np.int64), np.empty(size, np.uint8)
    source = np.frombuffer(encoded + bytes(PADDING_BYTES), np.uint8)
    of_mark = (source, len(encoded))
    written = _remove(offsets, data, CHARACTERS, in_ascii, sorted_symbols, *of_mark, new_offsets, out)
    return new_offsets, out[:written]

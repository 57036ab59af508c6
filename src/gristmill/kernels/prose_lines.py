"""What FineWeb's quality rules look at: lines that are not blank, counted as datatrove counts them.

What enters: the buffers of a string column; how a line may end, and how long a short one is. What leaves: `ProseLines`,
whole numbers for each document. Lines are what newlines part, and nothing else does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, TERMINAL, character
from gristmill.kernels.compile import BYTES_IN, I64_IN, U64_OUT, inline, kernel
from gristmill.kernels.duplicate_lines import count_newlines, most_newlines, next_newline
from gristmill.kernels.spans import count_characters, number_of_span, slots_for, table_size, with_padding
from gristmill.kernels.trim import stripped
from gristmill.kernels.vector import PADDING_BYTES, address


class ProseLines(NamedTuple):
    """Counts for each document. `lines` to `duplicate_characters` speak of lines that are not blank."""

    lines: npt.NDArray[np.int64]
    ending_lines: npt.NDArray[np.int64]  # with one of the given endings
    short_lines: npt.NDArray[np.int64]
    duplicate_characters: npt.NDArray[np.int64]  # in lines that are equal to an earlier one
    characters: npt.NDArray[np.int64]  # of the document, without newlines
    newlines: npt.NDArray[np.int64]


@inline
def _ends(data, start, stop, endings, bounds, characters):
    if bounds.size == 1:  # no list of endings: any terminal punctuation mark
        at = stop - 1
        while data[at] & 0xC0 == 0x80:
            at -= 1
        return character(data, at, characters)[0] & TERMINAL != 0
    for ending in range(bounds.size - 1):
        length = bounds[ending + 1] - bounds[ending]
        if length <= stop - start:
            same = np.int64(0)
            while same < length and data[stop - length + same] == endings[bounds[ending] + same]:
                same += 1
            if same == length:
                return True
    return False


@kernel(
    types.void(
        *(I64_IN, BYTES_IN, BYTES_IN, I64_IN, types.int64, CHARACTERS_IN, U64_OUT),
        types.Array(types.int64, 2, "C"),
        types.Array(types.int64, 2, "C"),
    )
)
def _measure(offsets, bytes_, endings, bounds, short_characters, character_tables, slots_room, spans, out):
    characters = character_tables[0]
    data = address(bytes_)
    slots, starts, stops = address(slots_room), address(spans[0]), address(spans[1])
    for document in range(offsets.size - 1):
        begin, end = offsets[document], offsets[document + 1]
        newlines = count_newlines(data, begin, end)
        size = slots_for(newlines + 1)
        lines = np.int64(0)
        ending = np.int64(0)
        short = np.int64(0)
        duplicate = np.int64(0)
        known = np.int64(0)
        at = begin
        while at <= end:
            stop = next_newline(data, at, end)
            inner, inner_stop = stripped(data, at, stop, characters)
            if inner < inner_stop:
                lines += 1
                ending += _ends(data, at, stop, endings, bounds, characters)
                length = count_characters(data, at, stop)
                short += length <= short_characters
                if number_of_span(data, at, stop, slots, size - 1, starts, stops, known) == known:
                    known += 1
                else:
                    duplicate += length
            at = stop + 1
        slots_room[:size] = 0
        out[0, document] = lines
        out[1, document] = ending
        out[2, document] = short
        out[3, document] = duplicate
        out[4, document] = count_characters(data, begin, end) - newlines
        out[5, document] = newlines


def measure_prose_lines(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], endings: Sequence[str] | None, short_characters: int
) -> ProseLines:
    """`endings`: None for any terminal punctuation mark of any script. A short line has so many characters at most."""
    data = with_padding(data, int(offsets[-1]))
    encoded = [ending.encode() for ending in endings or ()]
    text = np.frombuffer(b"".join(encoded) + bytes(PADDING_BYTES), np.uint8)
    bounds = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    if endings is not None and not encoded:
        bounds = np.array([0, 1 << 62])  # an empty list: an ending that no line is long enough for
    items = int(most_newlines(offsets, data)) + 1
    slots = np.zeros(table_size(items), np.uint64)
    spans = np.empty((2, items), np.int64)
    out = np.zeros((len(ProseLines._fields), offsets.size - 1), np.int64)
    _measure(offsets, data, text, bounds, short_characters, CHARACTERS, slots, spans, out)
    return ProseLines(*out)

"""Spans that go, and texts without them.

What enters: the two buffers of a string column, and spans of its bytes in order. What leaves: the union of windows as
spans on the bounds of characters or words (`union_of_windows`), and the two buffers without some spans
(`without_spans`). Guaranteed: what is valid UTF-8 stays so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, SPACE, character
from gristmill.kernels.compile import BOOL_IN, BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.places import MOST_COUNT, PLACE_BITS
from gristmill.kernels.vector import address

_NEWLINE = np.uint8(0x0A)


class Spans(NamedTuple):
    """Spans of bytes, in order and apart from each other, counted from the beginning of their document."""

    document: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]


@inline
def _continues(data, at):
    return data[at] & 0xC0 == 0x80


@inline
def _before(data, at):
    """Where the character begins that ends at `at`."""
    at -= 1
    while _continues(data, at):
        at -= 1
    return at


@inline
def _is_space(data, at, characters):
    here, _ = character(data, at, characters)
    return here & SPACE != 0


@inline
def _whole_words(data, first, start, stop, last, characters):
    """start:stop, in first:last, without the words at its ends that are not wholly inside."""
    if start > first and not _is_space(data, _before(data, start), characters):
        while start < stop and not _is_space(data, start, characters):
            start += character(data, start, characters)[1]
    if stop < last and not _is_space(data, stop, characters):
        while stop > start and not _is_space(data, _before(data, stop), characters):
            stop = _before(data, stop)
    return start, stop


_UNION = types.int64(
    I64_IN, BYTES_IN, types.int64, I64_IN, types.int64, types.boolean, CHARACTERS_IN, I64_OUT, I64_OUT, I64_OUT
)


@kernel(_UNION)
def _union(offsets, bytes_, first_byte, places, window_bytes, to_words, character_tables, document_of, starts, stops):
    characters = character_tables[0]
    data = address(bytes_)
    documents = offsets.size - 1
    base = offsets[0] - first_byte
    count = np.int64(0)
    document = np.int64(0)
    number = np.int64(0)
    while number < places.size:
        start = (places[number] >> PLACE_BITS) + base
        stop = start
        while document + 1 < documents and offsets[document + 1] <= start:
            document += 1
        first = offsets[document]
        last = offsets[document + 1]
        while number < places.size:
            window = (places[number] >> PLACE_BITS) + base
            if window > stop or window >= last:
                break
            stop = max(stop, window + (places[number] & MOST_COUNT) - 1 + window_bytes)
            number += 1
        while start < stop and _continues(data, start):
            start += 1
        while stop > start and stop < last and _continues(data, stop):
            stop -= 1
        if to_words:
            start, stop = _whole_words(data, first, start, stop, last, characters)
        if start < stop:
            document_of[count] = document
            starts[count] = start - first
            stops[count] = stop - first
            count += 1
    return count


def union_of_windows(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    first_byte: int,
    places: npt.NDArray[np.int64],
    window_bytes: int,
) -> Spans:
    """The bytes that lie in a window of these places (kernels/anchors.py), ascending, on the bounds of characters."""
    return _spans(offsets, data, first_byte, places, window_bytes, False)


def union_of_windows_in_words(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    first_byte: int,
    places: npt.NDArray[np.int64],
    window_bytes: int,
) -> Spans:
    """`union_of_windows`, less the words at the ends of each span that it would cut. Words part at white space."""
    return _spans(offsets, data, first_byte, places, window_bytes, True)


def _spans(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    first_byte: int,
    places: npt.NDArray[np.int64],
    window_bytes: int,
    to_words: bool,
) -> Spans:
    columns = [np.empty(len(places), np.int64) for _ in range(3)]
    count = _union(offsets, data, first_byte, places, window_bytes, to_words, CHARACTERS, *columns)
    return Spans(*(column[:count] for column in columns))


@kernel(types.int64(I64_IN, BYTES_IN, I64_IN, I64_IN, I64_IN, BOOL_IN, I64_OUT, BYTES_OUT))
def _without(offsets, data, document, start, stop, newline, new_offsets, out):
    """Fills the last two; returns how many bytes were written."""
    written = np.int64(0)
    number = np.int64(0)
    new_offsets[0] = 0
    for text in range(offsets.size - 1):
        at = offsets[text]
        while number < document.size and document[number] == text:
            kept = offsets[text] + start[number] - at
            out[written : written + kept] = data[at : at + kept]
            written += kept
            if newline[number]:
                out[written] = _NEWLINE
                written += 1
            at = offsets[text] + stop[number]
            number += 1
        kept = offsets[text + 1] - at
        out[written : written + kept] = data[at : at + kept]
        written += kept
        new_offsets[text + 1] = written
    return written


def without_spans(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    spans: Spans,
    newline: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """The texts without these spans; where `newline` is set, one stands in the span's place."""
    new_offsets = np.empty(len(offsets), np.int64)
    out = np.empty(int(offsets[-1] - offsets[0]) + int(newline.sum()), np.uint8)
    written = _without(offsets, data, *spans, newline, new_offsets, out)
    return new_offsets, out[:written]

"""Spans of several sentences, or lines: a hash of each, and documents without some sentences.

What enters: the pieces (sentences or lines) of some documents as byte spans, in order, and what they say when they are
folded (kernels/folding.py). What leaves: 128 bits for each span of `n` pieces in a row (`hash_spans`), and what is to
be cut for some pieces to be gone as datatrove's sentence deduplication takes them away (`without_sentences`,
`without_lines`). Guaranteed: two spans have one hash if their folded pieces, joined by blanks, are equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, SPACE, character
from gristmill.kernels.compile import BOOL_IN, BOOL_OUT, BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, U64_OUT, inline, kernel
from gristmill.kernels.hashing import SEED_HIGH, SEED_LOW, xxh64
from gristmill.kernels.vector import address

_BLANK = np.uint8(0x20)
_NEWLINE = 0x0A


class Pieces(NamedTuple):
    """The pieces of document d are number first[d] to first[d + 1]; piece p is data[start[p]:stop[p]]."""

    first: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]

    def bounds(self) -> npt.NDArray[np.int64]:
        """Offsets of texts of which every second one, from the first on, is a piece; the others lie between."""
        return np.append(np.stack([self.start, self.stop], 1).reshape(-1), self.stop[-1:].sum())


class SpanCuts(NamedTuple):
    """Spans of bytes, counted from the beginning of their document, and whether a newline takes their place."""

    document: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]
    newline: npt.NDArray[np.bool_]


_HASH = types.Tuple((U64_OUT, U64_OUT, I64_OUT))(I64_IN, I64_IN, I64_IN, I64_IN, BYTES_IN, types.int64, BYTES_OUT)


@kernel(_HASH)
def _hash_spans(first, pieces, start, folded_offsets, folded_bytes, n, room):
    folded = address(folded_bytes)
    joined = address(room)
    low = np.empty(start.size, np.uint64)
    high = np.empty(start.size, np.uint64)
    place = np.empty(start.size, np.int64)
    begins = np.empty(start.size + 1, np.int64)
    count = np.int64(0)
    for document in range(pieces.size):
        if pieces[document] < n:
            continue
        written = np.int64(0)
        for piece in range(pieces[document]):
            number = 2 * (first[document] + piece)
            begins[piece] = written
            for at in range(folded_offsets[number], folded_offsets[number + 1]):
                joined[written] = folded[at]
                written += 1
            joined[written] = _BLANK
            written += 1
        begins[pieces[document]] = written
        for piece in range(pieces[document] - n + 1):
            begin = begins[piece]
            end = begins[piece + n] - 1
            if end - begin == n - 1:  # nothing but the blanks between
                continue
            low[count] = xxh64(joined, begin, end, SEED_LOW)
            high[count] = xxh64(joined, begin, end, SEED_HIGH)
            place[count] = start[first[document] + piece]
            count += 1
    return low[:count], high[:count], place[:count]


def hash_spans(
    pieces: Pieces,
    looked_at: npt.NDArray[np.int64],
    folded_offsets: npt.NDArray[np.int64],
    folded: npt.NDArray[np.uint8],
    n: int,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """For each span of n pieces that says anything: two hashes, and the byte at which it begins.

    `looked_at`: of how many pieces of each document. Folded text 2p is that of piece p.
    """
    room = np.empty(len(folded) + len(pieces.start) + 1, np.uint8)
    spans = pieces.first, looked_at, pieces.start
    return _hash_spans(*spans, folded_offsets, folded, n, room)  # type: ignore[no-any-return]


@inline
def _is_space(data, at, characters):
    here, width = character(data, at, characters)
    return here & SPACE != 0, width


@inline
def _end_of_last_sentence(data, start, stop, characters):
    """Where spaCy's last sentence ends: before one blank that follows a word and ends the text."""
    if stop - start < 2 or data[stop - 1] != _BLANK:
        return stop
    before = stop - 2
    while before > start and data[before] & 0xC0 == 0x80:
        before -= 1
    is_space, _ = _is_space(data, before, characters)
    return stop if is_space else stop - 1


_WITHOUT = types.int64(I64_IN, BYTES_IN, I64_IN, I64_IN, I64_IN, BOOL_IN, types.boolean, CHARACTERS_IN,
                       I64_OUT, I64_OUT, I64_OUT, BOOL_OUT)  # fmt: skip


@kernel(_WITHOUT)
def _without(
    offsets, bytes_, first, start, stop, dropped, are_lines, character_tables, document_of, starts, stops, newline
):
    characters = character_tables[0]
    data = address(bytes_)
    count = np.int64(0)
    for document in range(offsets.size - 1):
        begin = offsets[document]
        kept_until = begin
        leading = True
        for piece in range(first[document], first[document + 1]):
            if dropped[piece]:
                continue
            from_ = start[piece]
            to = stop[piece]
            if not are_lines and piece == first[document + 1] - 1:
                to = _end_of_last_sentence(data, begin, to, characters)
            while leading and from_ < to:
                is_space, width = _is_space(data, from_, characters)
                if not is_space:
                    leading = False
                else:
                    from_ += width
            if leading:
                continue
            joins = are_lines and kept_until > begin
            whole = from_ == kept_until or (joins and from_ - kept_until == 1 and data[kept_until] == _NEWLINE)
            if not whole:
                document_of[count] = document
                starts[count] = kept_until - begin
                stops[count] = from_ - begin
                newline[count] = joins
                count += 1
            kept_until = to
        if kept_until < offsets[document + 1]:
            document_of[count] = document
            starts[count] = kept_until - begin
            stops[count] = offsets[document + 1] - begin
            newline[count] = False
            count += 1
    return count


def without_sentences(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], pieces: Pieces, dropped: npt.NDArray[np.bool_]
) -> SpanCuts:
    """What goes: these sentences, white space at the beginning of what stays, a blank behind the last sentence."""
    return _span_cuts(offsets, data, pieces, dropped, False)


def without_lines(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], pieces: Pieces, dropped: npt.NDArray[np.bool_]
) -> SpanCuts:
    """What goes: these lines, white space at the beginning; a newline parts what stays, and none is behind it."""
    return _span_cuts(offsets, data, pieces, dropped, True)


def _span_cuts(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    pieces: Pieces,
    dropped: npt.NDArray[np.bool_],
    are_lines: bool,
) -> SpanCuts:
    room = len(pieces.start) + len(offsets)
    document, start, stop = (np.empty(room, np.int64) for _ in range(3))
    newline = np.empty(room, np.bool_)
    count = _without(offsets, data, *pieces, dropped, are_lines, CHARACTERS, document, start, stop, newline)
    return SpanCuts(document[:count], start[:count], stop[:count], newline[:count])

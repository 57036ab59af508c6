"""Lines and paragraphs of one document that stand in it before.

What enters: a document's bytes. What leaves: how many pieces it has, how many of them are equal to an earlier one, and
how many characters these have. Guaranteed: datatrove's find_duplicates on Gopher's lines and paragraphs.
"""

from __future__ import annotations

import numpy as np
from numba import types

from gristmill.kernels.compile import BYTES_IN, I64_IN, inline, kernel
from gristmill.kernels.spans import count_characters, full_slots_for, number_of_span
from gristmill.kernels.vector import PADDING_BYTES, address, equal64, first_bit

_NEWLINE = 0x0A


@inline
def count_newlines(data, start, stop):
    newlines = np.int64(0)
    for at in range(start, stop):
        newlines += data[at] == _NEWLINE
    return newlines


@kernel(types.int64(I64_IN, BYTES_IN))
def most_newlines(offsets, bytes_):
    """In any document."""
    data = address(bytes_)
    most = np.int64(0)
    for document in range(offsets.size - 1):
        most = max(most, count_newlines(data, offsets[document], offsets[document + 1]))
    return most


@inline
def next_newline(data, at, stop):
    """The position of the next newline, `stop` if there is none."""
    while at < stop:
        found = equal64(data, at, _NEWLINE)
        if found:
            return min(at + first_bit(found), stop)
        at += PADDING_BYTES
    return stop


@inline
def duplicate_pieces(data, start, stop, run_newlines, newlines, room):
    """The pieces of data[start:stop] that runs of at least `run_newlines` newlines part; there are `newlines` in all.

    As with re.split, there is always at least one piece, and pieces may be empty.
    """
    slots, starts, stops = address(room.slots), address(room.starts), address(room.stops)
    size = full_slots_for(newlines + 1)
    known = np.int64(0)
    pieces = np.int64(0)
    characters = np.int64(0)
    piece = start
    at = start
    last = False
    while not last:
        end = next_newline(data, at, stop)
        at = end
        while at < stop and data[at] == _NEWLINE:
            at += 1
        last = at == end
        if not last and at - end < run_newlines:
            continue
        pieces += 1
        if last and pieces == 1:
            return pieces, np.int64(0), characters
        if number_of_span(data, piece, end, slots, size - 1, starts, stops, known) == known:
            known += 1
        else:
            characters += count_characters(data, piece, end)
        piece = at
    room.slots[:size] = 0
    return pieces, pieces - known, characters

"""N-grams of one document's words: the most frequent one, and how much is covered by ones that came before.

What enters: a document's words, laid end to end in a `Room`. What leaves: characters. Guaranteed: datatrove's
find_top_duplicate and find_all_duplicate, exactly.

Few n-grams repeat, so a first pass counts hashes in a small sketch of saturating bytes: what is counted there once
is alone, and what is counted often may be frequent. Only the others are looked up, and those exactly. Of an n-gram
that repeats, the first n - 1 words do: so each length looks only where the one before it found something.

Tried and rejected, on 1.48 MB of English: every length at every place, 9.5 ms for all of Gopher's measures instead of
7.0; words laid out a second time with blanks between them, and a count of characters before each (now both only where
they are asked for).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_OUT, I64_OUT, U64_OUT, inline
from gristmill.kernels.spans import (
    HIGH,
    LOW,
    count_characters,
    equal_spans,
    hash_span,
    hash_word,
    load64,
    number_of_span,
    slots_for,
    table_size,
)
from gristmill.kernels.vector import PADDING_BYTES, address, copy64

_SKETCH_BYTES_A_SLOT = 4
_MOST = 255  # what a byte of the sketch can count to
_SHORTEST_BOUND, _LONGEST_BOUND, _UNBOUNDED = 16, 64, 2**62
_BLANK = 0x20
_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Room(NamedTuple):
    """Working memory for the longest document; `slots` and `sketch` are all zero between uses.

    Word w of the document is joined[at[w]:at[w + 1]]; where words have blanks in them, it is also
    spaced[at[w] + w:at[w + 1] + w], with a blank behind it.
    """

    joined: npt.NDArray[np.uint8]
    spaced: npt.NDArray[np.uint8]
    at: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]
    ngrams: npt.NDArray[np.uint64]
    sketch: npt.NDArray[np.uint8]
    cells: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    slots: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]
    stops: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]


ROOM = types.NamedTuple(
    [BYTES_OUT, BYTES_OUT, I64_OUT, U64_OUT, U64_OUT, BYTES_OUT, I64_OUT, I64_OUT, U64_OUT, *[I64_OUT] * 4],
    Room,
)


def room_for(text_bytes: int, items: int) -> Room:
    """`items`: the most words, or lines, that any document has."""
    slots = table_size(items)
    return Room(
        joined=np.empty(text_bytes + 2 * PADDING_BYTES, np.uint8),
        spaced=np.empty(text_bytes + items + 2 * PADDING_BYTES, np.uint8),
        at=np.empty(items + 1, np.int64),
        hashes=np.empty(items, np.uint64),
        ngrams=np.empty(items, np.uint64),
        sketch=np.zeros(_SKETCH_BYTES_A_SLOT * slots, np.uint8),
        cells=np.empty(items, np.int64),
        places=np.empty(items, np.int64),
        slots=np.zeros(slots, np.uint64),
        starts=np.empty(items, np.int64),
        stops=np.empty(items, np.int64),
        counts=np.empty(items, np.int64),
        firsts=np.empty(items, np.int64),
    )


@inline
def lay_words(data, start, stop, first, last, room):
    """Copy words first..last into `room`; returns whether a word has a blank in it (some languages' splitters)."""
    joined, at, hashes = address(room.joined), address(room.at), address(room.hashes)
    starts, stops = address(start), address(stop)
    words = last - first
    size = np.int64(0)
    for word in range(words):
        at[word] = size
        begin, end = starts[first + word], stops[first + word]
        copy64(joined, size, data, begin)
        for offset in range(PADDING_BYTES, end - begin, PADDING_BYTES):
            copy64(joined, size + offset, data, begin + offset)
        hashes[word] = hash_word(data, begin, end)
        size += end - begin
    at[words] = size
    for offset in range(PADDING_BYTES):
        joined[size + offset] = 0
    blanks = False
    for offset in range(size):
        blanks |= joined[offset] == _BLANK
    if blanks:
        _lay_spaced(words, room)
    return blanks


@inline
def _lay_spaced(words, room):
    joined, spaced, at = address(room.joined), address(room.spaced), address(room.at)
    for word in range(words):
        for offset in range(at[word], at[word + 1]):
            spaced[offset + word] = joined[offset]
        spaced[at[word + 1] + word] = _BLANK
    for offset in range(PADDING_BYTES):
        spaced[at[words] + words + offset] = 0


@inline
def _same_ngrams(one, other, n, blanks, room):
    """Whether the n-grams that begin at these words are equal, joined by blanks."""
    joined, spaced, at = address(room.joined), address(room.spaced), address(room.at)
    length = at[one + n] - at[one]
    if at[other + n] - at[other] != length:
        return False
    if blanks:
        return equal_spans(spaced, at[one] + one, spaced, at[other] + other, length + n - 1)
    for word in range(1, n):
        if at[one + word] - at[one] != at[other + word] - at[other]:
            return False
    return equal_spans(joined, at[one], joined, at[other], length)


@inline
def _number_of_ngram(word, state, n, blanks, room, mask, known):
    """The number of this n-gram among the `known` ones; `known` if it is new (see spans.number_of_span)."""
    slots, firsts = address(room.slots), address(room.firsts)
    slot = np.int64(state >> _HALF) & mask
    while True:
        entry = slots[slot]
        if entry == 0:
            slots[slot] = (state << _HALF) | np.uint64(known + 1)
            firsts[known] = word
            return np.int64(known)
        if (entry ^ (state << _HALF)) & HIGH == 0:
            number = np.int64(entry & LOW) - 1
            if _same_ngrams(firsts[number], word, n, blanks, room):
                return number
        slot = (slot + 1) & mask


@inline
def _count_in_sketch(n, candidates, size, blanks, room):
    """Hash the n-grams at the candidates' places, count the hashes, and leave only candidates that may repeat.
    Returns how many are left, and the largest count, which is at least that of any n-gram."""
    spaced, at = address(room.spaced), address(room.at)
    hashes, ngrams, places = address(room.hashes), address(room.ngrams), address(room.places)
    sketch, cells = address(room.sketch), address(room.cells)
    bound = np.int64(1)
    for index in range(candidates):
        word = places[index]
        if blanks:
            state = hash_span(spaced, at[word] + word, at[word + n] + word + n - 1)
        else:
            state = ngrams[index] * _ODD + hashes[word + n - 1]
        ngrams[index] = state
        cell = np.int64(state >> _HALF) & (size - 1)
        cells[index] = cell
        count = min(np.int64(sketch[cell]) + 1, _MOST)
        sketch[cell] = count
        bound = max(bound, count)
    left = np.int64(0)
    for index in range(candidates):
        word, state, cell = places[index], ngrams[index], cells[index]
        places[left], ngrams[left], cells[left] = word, state, cell
        left += sketch[cell] > 1
    return left, bound


@inline
def _top_ngram(n, candidates, bound, blanks, room):
    """The count of the most frequent n-gram and where it first stands, given what `_count_in_sketch` left."""
    sketch, cells, places, ngrams = (
        address(room.sketch), address(room.cells), address(room.places), address(room.ngrams),
    )  # fmt: skip
    counts, firsts = address(room.counts), address(room.firsts)
    most = np.int64(1)
    top = np.int64(0)
    while bound > most:
        # Whatever stands at least `bound` times is among the frequent, so if any does, the search is over.
        frequent = np.int64(0)
        for index in range(candidates):
            frequent += sketch[cells[index]] >= bound
        mask = slots_for(frequent) - 1
        known = np.int64(0)
        for index in range(candidates):
            if sketch[cells[index]] < bound:
                continue
            word = places[index]
            name = _number_of_ngram(word, ngrams[index], n, blanks, room, mask, known)
            if name == known:
                known += 1
                counts[name] = 0
            counts[name] += 1
            if counts[name] > most or (counts[name] == most and firsts[name] < top):
                most = counts[name]
                top = firsts[name]
        room.slots[: mask + 1] = 0
        if most < bound:
            bound = max(most, 2) if bound > 2 else np.int64(1)
            most = np.int64(1)
            top = np.int64(0)
    return most, top


@inline
def top_ngrams(words, lengths, blanks, room, out):
    """For each n in `lengths`: characters of the most frequent n-gram, blanks included, times its count; or 0.

    Without blanks inside words, n-grams are equal where their words are; with them, `a b`+`c` equals `a`+`b c`, so
    what they say is hashed, and not their words' hashes, and every length looks at every place."""
    joined, at = address(room.joined), address(room.at)
    hashes, ngrams, places = address(room.hashes), address(room.ngrams), address(room.places)
    out[:] = 0
    shortest, longest = np.int64(words + 1), np.int64(0)
    for length in lengths:
        shortest = min(shortest, length)
        longest = max(longest, min(words, length))
    if words < shortest:
        return
    for word in range(words):
        ngrams[word] = hashes[word]
        places[word] = word
    for n in range(2, shortest):
        for word in range(words - n + 1):
            ngrams[word] = ngrams[word] * _ODD + hashes[word + n - 1]
    candidates = words
    for n in range(shortest, longest + 1):
        if blanks:
            candidates = words
            for word in range(words):
                places[word] = word
        while candidates > 0 and places[candidates - 1] + n > words:
            candidates -= 1
        size = _sketch_size(candidates)
        candidates, bound = _count_in_sketch(n, candidates, size, blanks, room)
        for index in range(lengths.size):
            if lengths[index] == n:
                most, top = _top_ngram(n, candidates, bound, blanks, room)
                out[index] = (count_characters(joined, at[top], at[top + n]) + n - 1) * most
        room.sketch[:size] = 0


@inline
def _sketch_size(words):
    return _SKETCH_BYTES_A_SLOT * slots_for(words)


@inline
def _bound_repeats(words, room):
    """Put into `room.counts`, for each word, a length in bytes: what begins there and is that long stands nowhere
    else. A first guess for all words, and a better one, a step longer, for those where it says too little."""
    joined, at, sketch = address(room.joined), address(room.at), address(room.sketch)
    cells, states, left, bounds = (
        address(room.cells), address(room.ngrams), address(room.places), address(room.counts),
    )  # fmt: skip
    size = _sketch_size(words)
    for word in range(words):
        left[word] = word
        states[word] = load64(joined, at[word])
    remaining = words
    for bound in range(_SHORTEST_BOUND, _LONGEST_BOUND + 1, 8):
        for index in range(remaining):
            state = states[index] * _ODD ^ load64(joined, at[left[index]] + bound - 8)
            state ^= state >> _HALF
            states[index] = state
            cell = np.int64(state * _ODD >> _HALF) & (size - 1)
            cells[index] = cell
            sketch[cell] = min(sketch[cell] + 1, 2)
        repeated = np.int64(0)
        for index in range(remaining):
            word, state = left[index], states[index]
            bounds[word] = bound
            left[repeated], states[repeated] = word, state
            repeated += sketch[cells[index]] > 1
        room.sketch[:size] = 0
        remaining = repeated
        size = _sketch_size(remaining)
    for index in range(remaining):
        bounds[left[index]] = _UNBOUNDED


@inline
def duplicate_ngrams(words, lengths, room, out):
    """For each n in `lengths`: characters in n-grams that came before, not counting any twice."""
    joined, at = address(room.joined), address(room.at)
    slots, starts, stops = address(room.slots), address(room.starts), address(room.stops)
    bounds, candidates = address(room.counts), address(room.cells)
    out[:] = 0
    shortest = np.int64(words + 1)
    for length in lengths:
        shortest = min(shortest, length)
    if words < shortest:
        return
    _bound_repeats(words, room)
    count = np.int64(0)
    for word in range(words - shortest + 1):
        candidates[count] = word
        count += at[word + shortest] - at[word] < bounds[word]
    size = slots_for(count)
    for index in range(lengths.size):
        n = lengths[index]
        known = np.int64(0)
        following = np.int64(0)
        duplicate = np.int64(0)
        for candidate in range(count):
            word = candidates[candidate]
            if word < following:
                continue
            if word + n > words:
                break
            stop = at[word + n]
            if stop - at[word] >= bounds[word]:
                continue
            if number_of_span(joined, at[word], stop, slots, size - 1, starts, stops, known) == known:
                known += 1
            else:
                duplicate += count_characters(joined, at[word], stop)
                following = word + n
        room.slots[:size] = 0
        out[index] = duplicate

"""N-grams of one document's words: the most frequent one, and how much is covered by ones that came before.

What enters: a document's words, laid end to end in a `Room`. What leaves: characters. Guaranteed: datatrove's
find_top_duplicate and find_all_duplicate, exactly.

Few n-grams repeat, so a first pass counts hashes in a small sketch of saturating bytes: what is counted there once
is alone, and what is counted often may be frequent. Only the others are looked up, and those exactly. Of an n-gram
that repeats, the first n - 1 words do: so each length looks only where the one before it found something.

Tried and rejected, on 1.48 MB of English: every length at every place, 9.5 ms for all of Gopher's measures instead of
7.0; words laid out a second time with blanks between them, and a count of characters before each (now both only where
they are asked for). With all of Gopher's measures at 4.4 ms/MB of Vietnamese and 7.4 of code: fewer bounds (16, 24, 32,
48, 64), and one below 16 for short n-grams, no faster.

One document of 50 MB (books) takes 731 MB with its words, 560 fewer than with int64 positions, cells that are kept and
not computed twice, arrays of each phase's own, and a sketch of 8 to 16 bytes a word however many there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_OUT, I32_OUT, I64_OUT, U32_OUT, U64_OUT, inline
from gristmill.kernels.spans import (
    HIGH,
    LOW,
    count_characters,
    equal_padded,
    full_slots_for,
    full_table_size,
    hash_span,
    hash_word,
    load64,
    number_of_span,
)
from gristmill.kernels.vector import PADDING_BYTES, address, copy64

_LARGE_SKETCH = 2**24
_MOST = 255  # what a byte of the sketch can count to
_SHORTEST_BOUND, _LONGEST_BOUND, _UNBOUNDED = 16, 64, 255
_BLANK = 0x20
_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


Positions = npt.NDArray[np.int32] | npt.NDArray[np.int64]  # int32 wherever they fit


class Room(NamedTuple):
    """Working memory for the longest document; `slots` and `sketch` are all zero between uses, and the rest is
    handed from phase to phase.

    Word w of the document is joined[at[w]:at[w + 1]]; where words have blanks in them, it is also
    spaced[at[w] + w:at[w + 1] + w], with a blank behind it.
    """

    joined: npt.NDArray[np.uint8]
    spaced: npt.NDArray[np.uint8]
    at: Positions
    hashes: npt.NDArray[np.uint32]
    ngrams: npt.NDArray[np.uint64]
    sketch: npt.NDArray[np.uint8]
    places: Positions
    slots: npt.NDArray[np.uint64]
    starts: Positions  # where a span that is known begins; of an n-gram, its first word
    stops: Positions  # where it ends; of an n-gram, how often it stands there
    bounds: npt.NDArray[np.uint8]


ROOMS = [
    types.NamedTuple(
        [BYTES_OUT, BYTES_OUT, item, U32_OUT, U64_OUT, BYTES_OUT, item, U64_OUT, item, item, BYTES_OUT], Room
    )
    for item in (I32_OUT, I64_OUT)
]


def room_for(text_bytes: int, items: int, last: int) -> Room:
    """`items`: the most words, or lines, that any document has; `last`: the largest position in any text."""
    position = np.int32 if max(last, text_bytes + items) + PADDING_BYTES < 2**31 else np.int64
    return Room(
        joined=np.empty(text_bytes + 2 * PADDING_BYTES, np.uint8),
        spaced=np.empty(text_bytes + items + 2 * PADDING_BYTES, np.uint8),
        at=np.empty(items + 1, position),
        hashes=np.empty(items, np.uint32),
        ngrams=np.empty(items, np.uint64),
        sketch=np.zeros(_sketch_bytes(items), np.uint8),
        places=np.empty(items, position),
        slots=np.zeros(full_table_size(items), np.uint64),
        starts=np.empty(items, position),
        stops=np.empty(items, position),
        bounds=np.empty(items, np.uint8),
    )


def _sketch_bytes(words: int) -> int:
    """A power of two: 8 to 16 bytes a word, fewer if that is more than `_LARGE_SKETCH`, but at least one."""
    size = 64
    while size < 8 * words and (size < _LARGE_SKETCH or size < words):
        size *= 2
    return size


_sketch_size = inline(_sketch_bytes)


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
        hashes[word] = np.uint32(hash_word(data, begin, end))
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
        return equal_padded(spaced, at[one] + one, spaced, at[other] + other, length + n - 1)
    for word in range(1, n):
        if at[one + word] - at[one] != at[other + word] - at[other]:
            return False
    return equal_padded(joined, at[one], joined, at[other], length)


@inline
def _cell(state, mask):
    return np.int64(state * _ODD >> _HALF) & mask


@inline
def _number_of_ngram(word, state, n, blanks, room, mask, known):
    """The number of this n-gram among the `known` ones; `known` if it is new (see spans.number_of_span)."""
    slots, firsts = address(room.slots), address(room.starts)
    slot = _cell(state, mask)
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
    sketch = address(room.sketch)
    bound = np.int64(1)
    for index in range(candidates):
        word = places[index]
        if blanks:
            state = hash_span(spaced, at[word] + word, at[word + n] + word + n - 1)
        else:
            state = ngrams[index] * _ODD + np.uint64(hashes[word + n - 1])
        ngrams[index] = state
        cell = _cell(state, size - 1)
        count = min(np.int64(sketch[cell]) + 1, _MOST)
        sketch[cell] = count
        bound = max(bound, count)
    left = np.int64(0)
    for index in range(candidates):
        word, state = places[index], ngrams[index]
        places[left], ngrams[left] = word, state
        left += sketch[_cell(state, size - 1)] > 1
    return left, bound


@inline
def _top_ngram(n, candidates, size, bound, blanks, room):
    """The count of the most frequent n-gram and where it first stands, given what `_count_in_sketch` left."""
    sketch, places, ngrams = address(room.sketch), address(room.places), address(room.ngrams)
    counts, firsts = address(room.stops), address(room.starts)
    most = np.int64(1)
    top = np.int64(0)
    while bound > most:
        # Whatever stands at least `bound` times is among the frequent, so if any does, the search is over.
        frequent = np.int64(0)
        for index in range(candidates):
            frequent += sketch[_cell(ngrams[index], size - 1)] >= bound
        mask = full_slots_for(frequent) - 1
        known = np.int64(0)
        for index in range(candidates):
            if sketch[_cell(ngrams[index], size - 1)] < bound:
                continue
            word = places[index]
            name = _number_of_ngram(word, ngrams[index], n, blanks, room, mask, known)
            if name == known:
                known += 1
                counts[name] = 0
            counts[name] += 1
            if counts[name] > most or (counts[name] == most and firsts[name] < top):
                most = np.int64(counts[name])
                top = np.int64(firsts[name])
        room.slots[: mask + 1] = 0
        if most < bound:
            bound = max(most, 2) if bound > 2 else np.int64(1)
            most = np.int64(1)
            top = np.int64(0)
    return most, top


@inline
def _shortest_and_longest(words, lengths):
    """The least length, words + 1 if none is as short as the document, and the greatest one that is."""
    shortest, longest = np.int64(words + 1), np.int64(0)
    for length in lengths:
        shortest = min(shortest, length)
        longest = max(longest, min(words, length))
    return shortest, longest


@inline
def top_ngrams(words, lengths, blanks, room, out):
    """For each n in `lengths`: characters of the most frequent n-gram, blanks included, times its count; or 0.

    Without blanks inside words, n-grams are equal where their words are; with them, `a b`+`c` equals `a`+`b c`, so
    what they say is hashed, and not their words' hashes, and every length looks at every place."""
    joined, at = address(room.joined), address(room.at)
    hashes, ngrams, places = address(room.hashes), address(room.ngrams), address(room.places)
    out[:] = 0
    shortest, longest = _shortest_and_longest(words, lengths)
    if words < shortest:
        return
    for word in range(words):
        ngrams[word] = np.uint64(hashes[word])
        places[word] = word
    for n in range(2, shortest):
        for word in range(words - n + 1):
            ngrams[word] = ngrams[word] * _ODD + np.uint64(hashes[word + n - 1])
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
                most, top = _top_ngram(n, candidates, size, bound, blanks, room)
                out[index] = (count_characters(joined, at[top], at[top + n]) + n - 1) * most
        room.sketch[:size] = 0


@inline
def _bound_repeats(words, room):
    """Put into `room.bounds`, for each word, a length in bytes: what begins there and is that long stands nowhere
    else. A first guess for all words, and a better one, a step longer, for those where it says too little."""
    joined, at, sketch = address(room.joined), address(room.at), address(room.sketch)
    states, left, bounds = address(room.ngrams), address(room.places), address(room.bounds)
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
            cell = _cell(state, size - 1)
            sketch[cell] = min(sketch[cell] + 1, 2)
        repeated = np.int64(0)
        for index in range(remaining):
            word, state = left[index], states[index]
            bounds[word] = bound
            left[repeated], states[repeated] = word, state
            repeated += sketch[_cell(state, size - 1)] > 1
        room.sketch[:size] = 0
        remaining = repeated
        size = _sketch_size(remaining)
    for index in range(remaining):
        bounds[left[index]] = _UNBOUNDED


@inline
def _may_repeat(length, bound):
    return (length < bound) | (bound == _UNBOUNDED)


@inline
def duplicate_ngrams(words, lengths, room, out):
    """For each n in `lengths`: characters in n-grams that came before, not counting any twice."""
    at, bounds, places = address(room.at), address(room.bounds), address(room.places)
    out[:] = 0
    shortest, longest = _shortest_and_longest(words, lengths)
    if words < shortest:
        return
    _bound_repeats(words, room)
    candidates = words
    for word in range(words):
        places[word] = word
    for n in range(shortest, longest + 1):
        while candidates > 0 and places[candidates - 1] + n > words:
            candidates -= 1
        left = np.int64(0)
        for candidate in range(candidates):
            word = places[candidate]
            places[left] = word
            left += _may_repeat(at[word + n] - at[word], bounds[word])
        candidates = left
        for index in range(lengths.size):
            if lengths[index] == n:
                out[index] = _duplicates(n, candidates, room)


@inline
def _duplicates(n, candidates, room):
    joined, at, places = address(room.joined), address(room.at), address(room.places)
    slots, starts, stops = address(room.slots), address(room.starts), address(room.stops)
    size = full_slots_for(candidates)
    known, following, duplicate = np.int64(0), np.int64(0), np.int64(0)
    for candidate in range(candidates):
        word = places[candidate]
        if word < following:
            continue
        start, stop = np.int64(at[word]), np.int64(at[word + n])
        if number_of_span(joined, start, stop, slots, size - 1, starts, stops, known) == known:
            known += 1
        else:
            duplicate += count_characters(joined, start, stop)
            following = np.int64(word + n)
    room.slots[:size] = 0
    return duplicate

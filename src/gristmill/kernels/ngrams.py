"""N-grams of one document's words: the most frequent one, and how much is covered by ones that came before.

What enters: a document's words, laid end to end in a `Room`. What leaves: characters. Guaranteed: datatrove's
find_top_duplicate and find_all_duplicate, exactly.

Few n-grams repeat, so a first pass counts hashes in a small sketch of saturating bytes: what is counted there once
is alone, and what is counted often may be frequent. Only the others are looked up, and those exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_OUT, I64_OUT, U64_OUT, inline
from gristmill.kernels.spans import count_characters, hash_span, load64, number_of_span, slots_for, table_size
from gristmill.kernels.vector import PADDING_BYTES, address, copy64

_SKETCH_BYTES_A_WORD = 8
_MOST = 255  # what a byte of the sketch can count to
_LONGEST_BOUND, _UNBOUNDED = 64, 2**62
_BLANK = 0x20
_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Room(NamedTuple):
    """Working memory for the longest document; `slots` and `sketch` are all zero between uses.

    Word w of the document is joined[at[w]:at[w + 1]], and spaced[at[w] + w:at[w + 1] + w] with a blank behind it;
    characters[w] characters lie before it.
    """

    joined: npt.NDArray[np.uint8]
    spaced: npt.NDArray[np.uint8]
    at: npt.NDArray[np.int64]
    characters: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]
    ngrams: npt.NDArray[np.uint64]
    sketch: npt.NDArray[np.uint8]
    cells: npt.NDArray[np.int64]
    slots: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]
    stops: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]


ROOM = types.NamedTuple(
    [BYTES_OUT, BYTES_OUT, I64_OUT, I64_OUT, U64_OUT, U64_OUT, BYTES_OUT, I64_OUT, U64_OUT, *[I64_OUT] * 4],
    Room,
)


def room_for(text_bytes: int, items: int) -> Room:
    """`items`: the most words, or lines, that any document has."""
    slots = table_size(items)
    return Room(
        joined=np.empty(text_bytes + 2 * PADDING_BYTES, np.uint8),
        spaced=np.empty(text_bytes + items + 2 * PADDING_BYTES, np.uint8),
        at=np.empty(items + 1, np.int64),
        characters=np.empty(items + 1, np.int64),
        hashes=np.empty(items, np.uint64),
        ngrams=np.empty(items, np.uint64),
        sketch=np.zeros(_SKETCH_BYTES_A_WORD * slots, np.uint8),
        cells=np.empty(items, np.int64),
        slots=np.zeros(slots, np.uint64),
        starts=np.empty(items, np.int64),
        stops=np.empty(items, np.int64),
        counts=np.empty(items, np.int64),
        firsts=np.empty(items, np.int64),
    )


@inline
def lay_words(data, start, stop, first, last, room):
    """Copy words first..last into `room`; returns whether a word has a blank in it (some languages' splitters)."""
    joined, spaced, at = address(room.joined), address(room.spaced), address(room.at)
    hashes, characters = address(room.hashes), address(room.characters)
    words = last - first
    size = np.int64(0)
    for word in range(words):
        at[word] = size
        length = stop[first + word] - start[first + word]
        for offset in range(0, length, PADDING_BYTES):
            copy64(joined, size + offset, data, start[first + word] + offset)
            copy64(spaced, size + word + offset, data, start[first + word] + offset)
        size += length
        spaced[size + word] = _BLANK
        hashes[word] = hash_span(data, start[first + word], stop[first + word])
    at[words] = size
    for offset in range(PADDING_BYTES):
        joined[size + offset] = 0
    high = np.uint8(0)
    blanks = False
    for offset in range(size):
        high |= joined[offset]
        blanks |= joined[offset] == _BLANK
    if high < 0x80:
        for word in range(words + 1):
            characters[word] = at[word]
    else:
        characters[0] = 0
        for word in range(words):
            characters[word + 1] = characters[word] + count_characters(joined, at[word], at[word + 1])
    return blanks


@inline
def _top_ngram(n, words, room):
    """The count of the most frequent n-gram and where it first stands, given `room.ngrams`, hashes of n-grams."""
    spaced, at, ngrams = address(room.spaced), address(room.at), address(room.ngrams)
    sketch, cells, slots = address(room.sketch), address(room.cells), address(room.slots)
    starts, stops, counts, firsts = (
        address(room.starts), address(room.stops), address(room.counts), address(room.firsts),
    )  # fmt: skip
    positions = words - n + 1
    size = _sketch_size(words)
    bound = np.int64(1)
    for word in range(positions):
        cell = np.int64(ngrams[word] >> _HALF) & (size - 1)
        cells[word] = cell
        count = min(np.int64(sketch[cell]) + 1, _MOST)
        sketch[cell] = count
        bound = max(bound, count)
    most = np.int64(1)
    top = np.int64(0)
    while bound > most:
        # Whatever stands at least `bound` times is among the candidates, so if any does, the search is over.
        candidates = np.int64(0)
        for word in range(positions):
            candidates += sketch[cells[word]] >= bound
        mask = slots_for(candidates) - 1
        known = np.int64(0)
        for word in range(positions):
            if sketch[cells[word]] < bound:
                continue
            start = at[word] + word
            name = number_of_span(spaced, start, at[word + n] + word + n - 1, slots, mask, starts, stops, known)
            if name == known:
                known += 1
                counts[name] = 0
                firsts[name] = word
            counts[name] += 1
            if counts[name] > most or (counts[name] == most and firsts[name] < top):
                most = counts[name]
                top = firsts[name]
        room.slots[: mask + 1] = 0
        if most < bound:
            bound = max(most, 2) if bound > 2 else np.int64(1)
            most = np.int64(1)
            top = np.int64(0)
    room.sketch[:size] = 0
    return most, top


@inline
def _sketch_size(words):
    return _SKETCH_BYTES_A_WORD // 2 * slots_for(words)


@inline
def top_ngrams(words, lengths, blanks, room, out):
    """For each n in `lengths`: characters of the most frequent n-gram, blanks included, times its count; or 0.

    Without blanks inside words, n-grams are equal where their words are; with them, `a b`+`c` equals `a`+`b c`, so
    what they say is hashed, and not their words' hashes."""
    spaced, at = address(room.spaced), address(room.at)
    characters, hashes, ngrams = address(room.characters), address(room.hashes), address(room.ngrams)
    out[:] = 0
    longest = np.int64(0)
    for length in lengths:
        longest = max(longest, min(words, length))
    for word in range(words):
        ngrams[word] = hashes[word]
    for n in range(1, longest + 1):
        if n > 1:
            for word in range(words - n + 1):
                if blanks:
                    ngrams[word] = hash_span(spaced, at[word] + word, at[word + n] + word + n - 1)
                else:
                    ngrams[word] = ngrams[word] * _ODD + hashes[word + n - 1]
        for index in range(lengths.size):
            if lengths[index] == n:
                most, top = _top_ngram(n, words, room)
                out[index] = (characters[top + n] - characters[top] + n - 1) * most


@inline
def _bound_repeats(words, room):
    """Put into `room.counts`, for each word, a length in bytes: what begins there and is that long stands nowhere
    else. A first guess for all words, and a better one, a step longer, for those where it says too little."""
    joined, at, sketch = address(room.joined), address(room.at), address(room.sketch)
    cells, states, left, bounds = (
        address(room.cells), address(room.ngrams), address(room.firsts), address(room.counts),
    )  # fmt: skip
    size = _sketch_size(words)
    for word in range(words):
        left[word] = word
        states[word] = load64(joined, at[word])
    remaining = words
    for bound in range(16, _LONGEST_BOUND + 1, 8):
        for index in range(remaining):
            state = states[index] * _ODD ^ load64(joined, at[left[index]] + bound - 8)
            state ^= state >> _HALF
            states[index] = state
            cell = np.int64(state * _ODD >> _HALF) & (size - 1)
            cells[index] = cell
            sketch[cell] = min(sketch[cell] + 1, 2)
        repeated = np.int64(0)
        for index in range(remaining):
            if sketch[cells[index]] > 1:
                left[repeated] = left[index]
                states[repeated] = states[index]
                repeated += 1
            else:
                bounds[left[index]] = bound
        room.sketch[:size] = 0
        remaining = repeated
        size = _sketch_size(remaining)
    for index in range(remaining):
        bounds[left[index]] = _UNBOUNDED


@inline
def duplicate_ngrams(words, lengths, room, out):
    """For each n in `lengths`: characters in n-grams that came before, not counting any twice."""
    joined, at, characters = address(room.joined), address(room.at), address(room.characters)
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
        if at[word + shortest] - at[word] < bounds[word]:
            candidates[count] = word
            count += 1
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
                duplicate += characters[word + n] - characters[word]
                following = word + n
        room.slots[:size] = 0
        out[index] = duplicate

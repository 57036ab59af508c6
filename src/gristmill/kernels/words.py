"""Documents to words, exactly as datatrove's `split_into_words` (spaCy's blank English tokenizer) splits them.

What enters: the two buffers of a string column, valid UTF-8. What leaves: `Words`, the byte span of every word.
Guaranteed: white space is in no word; every other byte of a document is in exactly one; words are in order.

spaCy works in two passes. The first cuts each chunk between white space by the rule (words_rule). The second looks
at the whole document: tokens in a row that together look like an exception are put together (`x ):` holds an
emoticon), the longest first, and where two overlap only one is. Tokens of chunks that one blank parts are in a row
too: such a find changes nothing, but it stands in the way of others, so it has to be found.

Most chunks are letters only, or letters with one mark at either end, or both. These are told apart by masks, 64 bytes
at a time, and not looked at character by character.

1.48 MB of English in 5.4 ms, 1.21 MB of Vietnamese in 3.5 (one core, AVX-512). Tried and rejected: every chunk
character by character, 7.0 and 6.4 ms; a lexicon asked by first byte, last byte and length, then by a hash of byte
after byte, 6.7 ms of English, because common words share these with entries; asking for room at each chunk and not at
each document (the arrays then change within the loop).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import (
    BEFORE_FULL_STOP,
    CHARACTERS,
    CHARACTERS_IN,
    DIGIT,
    INSIDE,
    PREFIX,
    SPACE,
    SUFFIX,
    character,
)
from gristmill.kernels.compile import BYTES_IN, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.spans import with_padding
from gristmill.kernels.vector import PADDING_BYTES, address, below64, count_bits, first_bit
from gristmill.kernels.words_exceptions import EXCEPTIONS, UNITS
from gristmill.kernels.words_lexicon import LEXICON_IN, LONGEST_SEQUENCE_TOKENS, build, find
from gristmill.kernels.words_plain import special64
from gristmill.kernels.words_rule import chunk_in, cut_chunk

_BLANK, _FULL_STOP, _PLUS = ord(" "), ord("."), ord("+")
_FIRST_SPACE_LEAD, _LAST_SPACE_LEAD = 0xC2, 0xE3  # first bytes of U+0085 and U+3000
_NO_TOKEN = -1


class Words(NamedTuple):
    """The words of document d are number first[d] to first[d + 1]; word w is data[start[w]:stop[w]]."""

    first: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]  # the texts' own bytes, or a copy of all words


@inline
def _longer(array, length, kept):
    longer = np.empty(length, array.dtype)
    longer[:kept] = array[:kept]
    return longer


@inline
def _token(lexicon, data, start, stop):
    entry = find(lexicon, data, start, stop)
    return np.int64(lexicon.token[entry]) if entry >= 0 else np.int64(_NO_TOKEN)


@inline
def _join(data, start, stop, first, count, lexicon):
    """spaCy's second pass over words first..count, all of them tokens of sequences. The new count."""
    size = count - first
    token = np.empty(size, np.int64)
    for index in range(size):
        token[index] = _token(lexicon, data, start[first + index], stop[first + index])
    taken = np.zeros(size, np.uint8)
    found = np.full(size, -1, np.int64)
    length_found = np.ones(size, np.int64)
    for length in range(min(LONGEST_SEQUENCE_TOKENS, size), 1, -1):
        for left in range(size - length + 1):
            state = np.int64(0)
            for index in range(left, left + length):
                state = np.int64(lexicon.next_state[state, token[index]])
                if state == 0:
                    break
            if state == 0 or lexicon.completes[state] < 0:
                continue
            right = left + length
            if not taken[left] and not taken[right - 1]:
                found[left] = lexicon.completes[state]
                length_found[left] = length
            taken[left:right] = 1

    old_start = start[first:count].copy()
    old_stop = stop[first:count].copy()
    count = first
    left = 0
    while left < size:
        right = left + length_found[left]
        apart = False
        for index in range(left + 1, right):
            apart |= old_start[index] != old_stop[index - 1]
        if found[left] >= 0 and not apart:
            piece = old_start[left]
            for cut in range(lexicon.cut_start[found[left]], lexicon.cut_start[found[left] + 1]):
                start[count] = piece
                piece = old_start[left] + lexicon.cuts[cut]
                stop[count] = piece
                count += 1
        else:
            for index in range(left, right):
                start[count] = old_start[index]
                stop[count] = old_stop[index]
                count += 1
        left = right
    return count


@inline
def _skip_space(data, at, end, characters):
    while at < end:
        byte = data[at]
        if byte == _BLANK:
            at += 1
            continue
        if _BLANK < byte < _FIRST_SPACE_LEAD or byte > _LAST_SPACE_LEAD:
            break
        here, width = character(data, at, characters)
        if not here & SPACE:
            break
        at += width
    return at


@inline
def _scan_chunk(data, start, end, characters):
    """Where the chunk ends that begins at `start`, and whether the rule could cut it. If not, it is one token,
    unless it is an exception."""
    classes = characters.classes
    first, width = character(data, start, characters)
    last = first
    every = first
    at = start + width
    while at < end:
        if data[at] < 0x80:
            here = np.int64(classes[data[at]])
            width = 1
        else:
            here, width = character(data, at, characters)
        if here & SPACE:
            break
        last = here
        every |= here
        at += width
    return at, every & INSIDE or first & PREFIX or last & SUFFIX or (every & DIGIT and not last & DIGIT)


@inline
def _pieces_of_exception(lexicon, entry, start, pieces):
    first = lexicon.cut_start[entry]
    count = lexicon.cut_start[entry + 1] - first
    for piece in range(count):
        pieces[piece] = start + lexicon.cuts[first + piece]
    return np.int64(count)


@inline
def _cut_affixes(data, start, stop, opens, closes, characters, lexicon, pieces):
    """What cut_chunk says of plain characters with a mark before them, if `opens`, and one behind, if `closes`: how
    many pieces there are, or 0 where only cut_chunk can say."""
    inner, inner_stop = start + opens, stop - closes
    classes = characters.classes
    if opens and not (classes[data[start]] & PREFIX and data[start] != _FULL_STOP and data[start] != _PLUS):
        return np.int64(0)
    if closes and data[inner_stop] == _FULL_STOP:
        last = inner_stop - 1
        while data[last] & 0xC0 == 0x80:
            last -= 1
        if not character(data, last, characters)[0] & BEFORE_FULL_STOP:
            return np.int64(0)
    elif closes and not classes[data[inner_stop]] & SUFFIX:
        return np.int64(0)
    if find(lexicon, data, start, stop) >= 0 or find(lexicon, data, inner, inner_stop) >= 0:
        return np.int64(0)
    if opens and closes and (find(lexicon, data, inner, stop) >= 0 or find(lexicon, data, start, inner_stop) >= 0):
        return np.int64(0)
    count = np.int64(opens)
    pieces[0] = inner
    pieces[count] = inner_stop
    pieces[count + 1] = stop
    return count + 1 + closes


_SPLIT = types.Tuple((I64_OUT, I64_OUT, I64_OUT))(I64_IN, BYTES_IN, CHARACTERS_IN, LEXICON_IN, I64_OUT)


@kernel(_SPLIT)
def _split(offsets, bytes_, character_tables, lexicons, chunk_room):
    characters = character_tables[0]
    classes = characters.classes
    lexicon = lexicons[0]
    data = address(bytes_)
    documents = offsets.size - 1
    first = np.zeros(documents + 1, np.int64)
    # Room that is not used costs nothing; a check at each word, in the inner loop, took as long as all the rest.
    room = (offsets[documents] - offsets[0]) // 4 + chunk_room.size // 4
    start = np.empty(room, np.int64)
    stop = np.empty(room, np.int64)
    chunk = chunk_in(chunk_room)
    count = np.int64(0)
    for document in range(documents):
        at = offsets[document]
        end = offsets[document + 1]
        if count + end - at > room:
            room = max(2 * room, count + end - at)
            start = _longer(start, room, count)
            stop = _longer(stop, room, count)
        previous = np.int64(_NO_TOKEN)  # the token before, if it is one of a sequence and nothing lies between
        row = np.int64(-1)  # the first of the words up to here that follow each other in some sequence, or -1
        chunk_stop = np.int64(-1)
        while True:
            at = _skip_space(data, at, end, characters)
            if previous >= 0 and not (at == chunk_stop + 1 and at < end and data[chunk_stop] == _BLANK):
                previous = np.int64(_NO_TOKEN)
                if row >= 0:
                    count = _join(data, start, stop, row, count, lexicon)
                    row = np.int64(-1)
            if at == end:
                break

            piece_start = at
            pieces = np.int64(0)
            at += first_bit(below64(data, at, _BLANK + 1))
            length = min(at, end) - piece_start
            may_be_cut = True
            if length < PADDING_BYTES and (at >= end or classes[data[at]] & SPACE):
                at = piece_start + length
                special = special64(data, piece_start) & ((np.uint64(1) << np.uint64(length)) - np.uint64(1))
                if special == 0 or length == 1:
                    may_be_cut = False
                else:
                    opens = np.int64(special & np.uint64(1))
                    closes = np.int64(special >> np.uint64(length - 1))
                    only = count_bits(special) == opens + closes and length > opens + closes
                    if only and (not opens or data[piece_start] < 0x80):
                        pieces = _cut_affixes(data, piece_start, at, opens, closes, characters, lexicon, chunk.pieces)
            if may_be_cut and pieces == 0:
                at, may_be_cut = _scan_chunk(data, piece_start, end, characters)
                if may_be_cut:
                    pieces = cut_chunk(data, piece_start, at, characters, lexicon, chunk)
            chunk_stop = at
            if pieces == 0:
                entry = find(lexicon, data, piece_start, at)
                if entry < 0 and row < 0:
                    start[count] = piece_start
                    stop[count] = at
                    count += 1
                    previous = np.int64(_NO_TOKEN)
                    continue
                if entry >= 0:
                    pieces = _pieces_of_exception(lexicon, entry, piece_start, chunk.pieces)
                if pieces == 0:
                    chunk.pieces[0] = at
                    pieces = np.int64(1)

            for piece in range(pieces):
                piece_stop = chunk.pieces[piece]
                now = _token(lexicon, data, piece_start, piece_stop)
                if previous >= 0 and now >= 0 and lexicon.follows[previous, now]:
                    if row < 0:
                        row = count - 1
                elif row >= 0:
                    count = _join(data, start, stop, row, count, lexicon)
                    row = np.int64(-1)
                start[count] = piece_start
                stop[count] = piece_stop
                count += 1
                previous = now
                piece_start = piece_stop
        first[document + 1] = count
    return first, start[:count], stop[:count]


@kernel(types.Tuple((I64_OUT, I64_OUT, I64_OUT))(I64_IN, BYTES_IN, CHARACTERS_IN))
def _split_at_white_space(offsets, bytes_, character_tables):
    characters = character_tables[0]
    data = address(bytes_)
    documents = offsets.size - 1
    first = np.zeros(documents + 1, np.int64)
    room = np.int64(1024)
    start = np.empty(room, np.int64)
    stop = np.empty(room, np.int64)
    count = np.int64(0)
    for document in range(documents):
        end = offsets[document + 1]
        at = _skip_space(data, offsets[document], end, characters)
        while at < end:
            if count == room:
                room *= 2
                start = _longer(start, room, count)
                stop = _longer(stop, room, count)
            start[count] = at
            while at < end:
                here, width = character(data, at, characters)
                if here & SPACE:
                    break
                at += width
            stop[count] = at
            count += 1
            at = _skip_space(data, at, end, characters)
        first[document + 1] = count
    return first, start[:count], stop[:count]


def split_at_white_space(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Words:
    """Runs between white space, as str.split() has them."""
    first, start, stop = _split_at_white_space(offsets, data, CHARACTERS)
    return Words(first, start, stop, data)


@cache
def _lexicon() -> npt.NDArray[np.void]:
    """The lexicon that puts sequences together, made with one that does not."""
    exceptions = sorted(EXCEPTIONS)
    encoded = [exception.encode() for exception in exceptions]
    text = b"".join(encoded)
    offsets = np.cumsum([0, *map(len, encoded)])
    words = _words(offsets, np.frombuffer(text, np.uint8), build({}, UNITS, {}))
    sequences = {
        exception: [text[words.start[word] : words.stop[word]].decode() for word in range(*span)]
        for exception, span in zip(exceptions, pairwise(words.first), strict=True)
        if span[1] - span[0] > 1
    }
    return build(EXCEPTIONS, UNITS, sequences)


def split_words(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Words:
    """The words of every document; `offsets` may begin anywhere in `data`."""
    return _words(offsets, data, _lexicon())


def _words(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], lexicon: npt.NDArray[np.void]) -> Words:
    longest_bytes = int(np.diff(offsets).max(initial=0))
    chunk_room = np.empty(4 * (longest_bytes + 1), np.int64)
    first, start, stop = _split(offsets, with_padding(data, int(offsets[-1]) + 1), CHARACTERS, lexicon, chunk_room)
    return Words(first, start, stop, data)

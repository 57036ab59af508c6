"""What Gopher's quality rules look at, counted as datatrove counts it.

What enters: the buffers of a string column, its words, and a list of stop words. What leaves: `Quality`, whole numbers
for each document, from which the filter makes its ratios.

- A word is a symbol if every character of it is one (PUNCTUATION_SET), alphabetic if any is a letter.
- Lines are those of str.splitlines(); a bullet line begins with `•` or `-` behind white space, an ellipsis line ends
  with `...` or `…` before white space.
- Stop words count once each, and only as they are written.

Tried and rejected, on 1.48 MB of English: counting the characters of each word, and asking for stop words by first byte
and length only, 5.0 ms instead of 2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, LETTER, SYMBOL, character
from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.find import count_byte, count_three
from gristmill.kernels.spans import count_characters, equal_spans, hash_span, table_size, with_padding
from gristmill.kernels.split_lines import line_end
from gristmill.kernels.trim import stripped
from gristmill.kernels.vector import PADDING_BYTES, address
from gristmill.kernels.words import Words

_HASH, _FULL_STOP, _HYPHEN = ord("#"), ord("."), ord("-")
_ELLIPSIS = tuple("…".encode())
_BULLET = tuple("•".encode())
_FILTER_BITS = 4096


class Quality(NamedTuple):
    """Counts for each document."""

    words: npt.NDArray[np.int64]
    non_symbol_words: npt.NDArray[np.int64]
    non_symbol_characters: npt.NDArray[np.int64]  # in those words
    alphabetic_words: npt.NDArray[np.int64]
    stop_words: npt.NDArray[np.int64]  # different ones
    hashes: npt.NDArray[np.int64]
    ellipses: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]
    bullet_lines: npt.NDArray[np.int64]
    ellipsis_lines: npt.NDArray[np.int64]


class StopWords(NamedTuple):
    """Words to look up: word w is text[start[w]:start[w + 1]]; `slots` holds numbers from 1, by hash."""

    text: npt.NDArray[np.uint8]
    start: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int64]  # the last document that had the word
    beginnings: npt.NDArray[np.uint8]  # 1 where a word begins, ends and is as long so (`_beginning`)


STOP_WORDS = types.NamedTuple([types.Array(types.uint8, 1, "C"), I64_OUT, I64_OUT, I64_OUT, BYTES_OUT], StopWords)


def stop_words(words: Sequence[str]) -> StopWords:
    """The table for a list of words."""
    encoded = sorted({word.encode() for word in words if word})
    text = np.frombuffer(b"".join(encoded) + bytes(PADDING_BYTES), np.uint8).copy()
    start = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    slots = np.zeros(table_size(len(encoded)), np.int64)
    beginnings = np.zeros(_FILTER_BITS, np.uint8)
    _index_stop_words(text, start, slots, beginnings)
    return StopWords(text, start, slots, np.full(len(encoded), -1, np.int64), beginnings)


@inline
def _beginning(data, start, stop):
    """What is looked at first of a word: a number below _FILTER_BITS of its first byte, its last one and its length."""
    first, last = np.int64(data[start]), np.int64(data[stop - 1])
    return (first * 33 ^ last * 257 ^ (stop - start) * 1031) & (_FILTER_BITS - 1)


@kernel(types.void(BYTES_IN, I64_IN, I64_OUT, BYTES_OUT))
def _index_stop_words(text, start, slots, beginnings):
    base = address(text)
    for word in range(start.size - 1):
        beginnings[_beginning(base, start[word], start[word + 1])] = 1
        slot = np.int64(hash_span(base, start[word], start[word + 1])) & (slots.size - 1)
        while slots[slot]:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = word + 1


@inline
def _stop_word(data, start, stop, text, starts, slots, mask):
    """The number of the stop word that data[start:stop] is, or -1."""
    length = stop - start
    slot = np.int64(hash_span(data, start, stop)) & mask
    while slots[slot]:
        word = slots[slot] - 1
        if starts[word + 1] - starts[word] == length and equal_spans(text, starts[word], data, start, length):
            return word
        slot = (slot + 1) & mask
    return np.int64(-1)


@inline
def _kinds(data, start, stop, characters):
    """Whether a word has a character that is no symbol, and one that is a letter."""
    plain = False
    letter = False
    at = start
    while at < stop and not (plain and letter):
        here, width = character(data, at, characters)
        plain |= here & SYMBOL == 0
        letter |= here & LETTER != 0
        at += width
    return plain, letter


@inline
def _ends_with_ellipsis(data, start, stop):
    if stop - start < 3:
        return False
    a, b, c = data[stop - 3], data[stop - 2], data[stop - 1]
    dots = a == _FULL_STOP and b == _FULL_STOP and c == _FULL_STOP
    return dots or (a == _ELLIPSIS[0] and b == _ELLIPSIS[1] and c == _ELLIPSIS[2])


@inline
def _begins_with_bullet(data, start, stop):
    if start >= stop:
        return False
    if data[start] == _HYPHEN:
        return True
    if stop - start < 3:
        return False
    return data[start] == _BULLET[0] and data[start + 1] == _BULLET[1] and data[start + 2] == _BULLET[2]


@kernel(
    types.void(
        *(I64_IN, BYTES_IN, I64_IN, I64_IN, I64_IN, BYTES_IN, STOP_WORDS, CHARACTERS_IN),
        types.Array(types.int64, 2, "C"),
    )
)
def _measure(offsets, bytes_, first, start, stop, word_bytes, stops, character_tables, out):
    characters = character_tables[0]
    data, words_data = address(bytes_), address(word_bytes)
    text, starts, slots = address(stops.text), address(stops.start), address(stops.slots)
    seen, beginnings = address(stops.seen), address(stops.beginnings)
    for document in range(offsets.size - 1):
        without = np.int64(0)  # words of symbols only
        alphabetic = np.int64(0)
        different = np.int64(0)
        words_characters = np.int64(0)
        end = np.int64(0)
        if first[document] < first[document + 1]:
            end = start[first[document]]
            words_characters = count_characters(words_data, end, stop[first[document + 1] - 1])
        for word in range(first[document], first[document + 1]):
            begin = start[word]
            gap = begin - end  # of one byte, almost always, which is one character
            end = stop[word]
            words_characters -= gap if gap < 2 else count_characters(words_data, begin - gap, begin)
            lead = words_data[begin]
            here = np.int64(characters.classes[lead]) & (LETTER | SYMBOL)
            if lead < 0x80 and (here == LETTER or end - begin == 1):
                plain, letter = here & SYMBOL == 0, here & LETTER != 0
            else:
                plain, letter = _kinds(words_data, begin, end, characters)
            alphabetic += letter
            if not plain:
                without += 1
                words_characters -= count_characters(words_data, begin, end)
            if beginnings[_beginning(words_data, begin, end)]:
                number = _stop_word(words_data, begin, end, text, starts, slots, stops.slots.size - 1)
                if number >= 0 and seen[number] != document:
                    seen[number] = document
                    different += 1
        begin, end = offsets[document], offsets[document + 1]
        out[0, document] = first[document + 1] - first[document]
        out[1, document] = first[document + 1] - first[document] - without
        out[2, document] = words_characters
        out[3, document] = alphabetic
        out[4, document] = different
        out[5, document] = count_byte(data, begin, end, _HASH)
        out[6, document] = count_three(data, begin, end, _FULL_STOP, _FULL_STOP, _FULL_STOP) + count_three(
            data, begin, end, _ELLIPSIS[0], _ELLIPSIS[1], _ELLIPSIS[2]
        )
        lines = np.int64(0)
        bullets = np.int64(0)
        ellipses = np.int64(0)
        at = begin
        while at < end:
            stop_of_line, after = line_end(data, at, end, characters)
            inner, inner_stop = stripped(data, at, stop_of_line, characters)
            bullets += _begins_with_bullet(data, inner, inner_stop)
            ellipses += _ends_with_ellipsis(data, inner, inner_stop)
            lines += 1
            at = after
        out[7, document] = lines
        out[8, document] = bullets
        out[9, document] = ellipses


def measure_quality(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], words: Words, stops: StopWords
) -> Quality:
    """`stops`: what `stop_words` made."""
    own_data = words.data is data
    data = with_padding(data, int(offsets[-1]))
    word_data = data if own_data else with_padding(words.data, len(words.data))
    stops.seen[:] = -1
    out = np.zeros((len(Quality._fields), offsets.size - 1), np.int64)
    _measure(offsets, data, words.first, words.start, words.stop, word_data, stops, CHARACTERS, out)
    return Quality(*out)

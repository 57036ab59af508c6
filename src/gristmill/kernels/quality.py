"""What Gopher's quality rules look at, counted as datatrove counts it.

What enters: the buffers of a string column, its words, and a list of stop words. What leaves: `Quality`, whole numbers
for each document, from which the filter makes its ratios.

- A word is a symbol if every character of it is one (PUNCTUATION_SET), alphabetic if any is a letter.
- Lines are those of str.splitlines(); a bullet line begins with `•` or `-` behind white space, an ellipsis line ends
  with `...` or `…` before white space.
- Stop words count once each, and only as they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, LETTER, SYMBOL, character
from gristmill.kernels.compile import BYTES_IN, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.find import count_byte, count_three
from gristmill.kernels.spans import count_characters, hash_span, table_size, with_padding
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
    beginnings: npt.NDArray[np.int64]  # 1 where a word has this first byte and length


STOP_WORDS = types.NamedTuple([types.Array(types.uint8, 1, "C"), I64_OUT, I64_OUT, I64_OUT, I64_OUT], StopWords)


def stop_words(words: Sequence[str]) -> StopWords:
    """The table for a list of words."""
    encoded = sorted({word.encode() for word in words if word})
    text = np.frombuffer(b"".join(encoded) + bytes(PADDING_BYTES), np.uint8).copy()
    start = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    slots = np.zeros(table_size(len(encoded)), np.int64)
    beginnings = np.zeros(_FILTER_BITS, np.int64)
    _index_stop_words(text, start, slots)
    for word in encoded:
        beginnings[(word[0] * 16 + len(word)) % _FILTER_BITS] = 1
    return StopWords(text, start, slots, np.full(len(encoded), -1, np.int64), beginnings)


@kernel(types.void(BYTES_IN, I64_IN, I64_OUT))
def _index_stop_words(text, start, slots):
    base = address(text)
    for word in range(start.size - 1):
        slot = np.int64(hash_span(base, start[word], start[word + 1])) & (slots.size - 1)
        while slots[slot]:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = word + 1


@inline
def _stop_word(data, start, stop, stops):
    """The number of the stop word that data[start:stop] is, or -1."""
    length = stop - start
    if not stops.beginnings[(np.int64(data[start]) * 16 + length) & (_FILTER_BITS - 1)]:
        return np.int64(-1)
    slot = np.int64(hash_span(data, start, stop)) & (stops.slots.size - 1)
    while stops.slots[slot]:
        word = stops.slots[slot] - 1
        at = stops.start[word]
        if stops.start[word + 1] - at == length:
            same = np.int64(0)
            while same < length and stops.text[at + same] == data[start + same]:
                same += 1
            if same == length:
                return word
        slot = (slot + 1) & (stops.slots.size - 1)
    return np.int64(-1)


@inline
def _kinds(data, start, stop, characters):
    """Whether a word has a character that is no symbol, and one that is a letter."""
    first = np.int64(characters.classes[data[start]])
    if data[start] < 0x80 and first & LETTER and not first & SYMBOL:
        return True, True
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
    for document in range(offsets.size - 1):
        non_symbol = np.int64(0)
        non_symbol_characters = np.int64(0)
        alphabetic = np.int64(0)
        different = np.int64(0)
        for word in range(first[document], first[document + 1]):
            begin, end = start[word], stop[word]
            plain, letter = _kinds(words_data, begin, end, characters)
            alphabetic += letter
            if plain:
                non_symbol += 1
                non_symbol_characters += count_characters(words_data, begin, end)
            number = _stop_word(words_data, begin, end, stops)
            if number >= 0 and stops.seen[number] != document:
                stops.seen[number] = document
                different += 1
        begin, end = offsets[document], offsets[document + 1]
        out[0, document] = first[document + 1] - first[document]
        out[1, document] = non_symbol
        out[2, document] = non_symbol_characters
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

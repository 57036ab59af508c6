"""What fastText's `predict` says of each text of a batch: label and score.

What enters: the buffers of a string column, a model, and labels whose scores are wanted beside the best. What leaves:
`Predictions`, a row for each text. Guaranteed: for any batch and whatever the table of words held before, the same
bits. A text is one line: a newline parts words as a blank does, and the line's end counts as the word `</s>`. Words
are what ASCII white space and NUL part; a word `</s>` ends the line.

fastText adds row after row; this adds short words that were summed before. In float32 that changes the seventh digit of
a sum: scores of 31,096 real texts were at most 0.00003 apart, and 0.0005 where one word stands 200,000 times (there it
is fastText that drifts). What was tried, with figures, stands in docs/fasttext.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_IN, F32_OUT, I32_IN, I32_OUT, I64_IN, fold, inline, kernel
from gristmill.kernels.fasttext_labels import best_label
from gristmill.kernels.fasttext_ngrams import ngrams_room
from gristmill.kernels.fasttext_tables import (
    ENTRY_HEAD_WORDS,
    MODEL,
    ROOM,
    ROWS_AT_ONCE,
    WORDS_AT_ONCE,
    Model,
    Room,
    WordTable,
    add_places,
    has_row,
    place_of_bucket,
    tables_of,
)
from gristmill.kernels.fasttext_words import FNV, NO_TOKEN, SIZES, add_new_word, kept_entry, likely_entry, slot_of
from gristmill.kernels.float_rows import BLOCK_NUMBERS, add_rows, bytes_at, fetch
from gristmill.kernels.spans import hash_word, with_padding
from gristmill.kernels.vector import PADDING_BYTES, address, below64, first_bit

_WHITE = np.uint64(1 << 0x20 | 0x1F << 0x09 | 1 << 0x00)
_NGRAM_FACTOR = np.uint64(116049371)
_END_HASH = np.uint64(0xFFFFFFFFD79C9359)  # FNV-1a of `</s>`, as a signed number


class Predictions(NamedTuple):
    """For each text."""

    label: npt.NDArray[np.int32]  # number of the best label; -1 where no row of the model is in the text
    score: npt.NDArray[np.float32]  # its score; NaN where there is none
    scores: npt.NDArray[np.float32]  # [text, asked]: of the labels asked for


@inline
def _is_white(byte):
    """Blank, NUL, and tab to carriage return part words."""
    return byte <= 0x20 and (_WHITE >> np.uint64(byte)) & np.uint64(1) != 0


@inline
def _skip_white(data, at, stop):
    while at < stop and _is_white(data[at]):
        at += 1
    return at


@inline
def _skip_word(data, at, stop):
    """The next white space from `at` on, or `stop`."""
    while at < stop:
        low = below64(data, at, 0x21)
        while low:
            here = at + first_bit(low)
            if here >= stop:
                return stop
            if _is_white(data[here]):
                return here
            low &= low - np.uint64(1)
        at += PADDING_BYTES
    return stop


@inline
def _is_end(data, start, stop):
    """Whether the word is `</s>`."""
    return (
        data[start] == 0x3C
        and stop - start == 4
        and data[start + 1] == 0x2F
        and data[start + 2] == 0x73
        and data[start + 3] == 0x3E
    )


@fold
def _add_word_ngrams(tables, hashes, words, sums):
    """Add the rows of n-grams of words, given the words' hashes; returns how many there are."""
    rows = np.int64(0)
    count = np.int64(0)
    for first in range(words):
        state = hashes[first]
        for other in range(first + 1, min(first + tables.word_ngrams, words)):
            state = state * _NGRAM_FACTOR + hashes[other]
            bucket = np.int64(state % np.uint64(tables.buckets))
            if has_row(tables, bucket):
                tables.places[count] = place_of_bucket(tables, bucket)
                count += 1
            if count == ROWS_AT_ONCE:
                add_places(tables, sums, count)
                rows += count
                count = np.int64(0)
    add_places(tables, sums, count)
    return rows + count


@fold
def _next_words(tables, room, data, at, end):
    """Lay out the bounds and hashes of the next words in `room`, and have their entries brought near meanwhile.
    Returns how many there are, and where the next one begins: `end` behind the last one, and behind `</s>`."""
    starts, stops, states = address(room.starts), address(room.stops), address(room.states)
    table_bytes, slot_bytes = bytes_at(tables.table), bytes_at(tables.table_slots)
    count = np.int64(0)
    while at < end and count < WORDS_AT_ONCE:
        stop = _skip_word(data, at, end)
        if _is_end(data, at, stop):
            return count, end
        state = hash_word(data, at, stop)
        starts[count], stops[count], states[count] = at, stop, state
        fetch(slot_bytes, 4 * slot_of(tables, state))
        count += 1
        at = _skip_white(data, stop, end)
    for index in range(count):
        place = 8 * likely_entry(tables, states[index])
        fetch(table_bytes, place)
        fetch(table_bytes, place + PADDING_BYTES)
    return count, at


@fold
def _add_text(tables, room, data, at, end, sums):
    """Add the rows of everything in the line data[at:end]; returns how many there are."""
    table, hashes = tables.table, address(room.hashes)
    starts, stops, states = address(room.starts), address(room.stops), address(room.states)
    rows = np.int64(0)
    words = np.int64(0)
    at = _skip_white(data, at, end)
    while at < end:
        count, at = _next_words(tables, room, data, at, end)
        waiting = np.int64(0)  # entries that are to be added, in their order; none of them before a new word is
        for index in range(count):
            start, stop, state = starts[index], stops[index], states[index]
            entry = kept_entry(tables, data, start, stop, state)
            if entry < 0:
                add_rows(sums, table, tables.places, waiting, tables.blocks)
                waiting = np.int64(0)
                entry = add_new_word(tables, sums, data, start, stop, state)
            else:
                tables.places[waiting] = 8 * (entry + ENTRY_HEAD_WORDS)
                waiting += 1
            rows += np.int64(table[entry + SIZES] >> np.uint64(32))
            if tables.word_ngrams > 1 and table[entry + FNV] != NO_TOKEN:
                hashes[words] = np.uint64(np.int64(np.int32(table[entry + FNV])))  # to fastText a signed number
                words += 1
        add_rows(sums, table, tables.places, waiting, tables.blocks)
    if tables.end >= 0:
        tables.places[0] = tables.row_start + tables.end * tables.row_bytes
        add_places(tables, sums, 1)
        rows += 1
    if tables.word_ngrams > 1:
        hashes[words] = _END_HASH
        rows += _add_word_ngrams(tables, hashes, words + 1, sums)
    return rows


@kernel(types.void(I64_IN, BYTES_IN, MODEL, I32_IN, ROOM, I32_OUT, F32_OUT, types.Array(types.float32, 2, "C")))
def _predict(offsets, bytes_, model, asked, room, labels, scores, asked_scores):
    data = address(bytes_)
    tables = tables_of(model, room)
    sums = address(room.sums)
    for text in range(offsets.size - 1):
        for number in range(tables.blocks * BLOCK_NUMBERS):
            sums[number] = np.float32(0.0)
        rows = _add_text(tables, room, data, offsets[text], offsets[text + 1], sums)
        if rows == 0:
            labels[text] = -1
            scores[text] = np.float32(np.nan)
            asked_scores[text] = np.float32(np.nan)
            continue
        share = np.float32(1.0 / np.float64(rows))
        for number in range(model.width):
            sums[number] *= share
        best, score = best_label(model, room, asked, asked_scores[text])
        labels[text] = best
        scores[text] = score


def room_for(model: Model, table: WordTable, longest_bytes: int) -> Room:
    """Room for texts of so many bytes at most; `table` is kept from batch to batch."""
    nodes = len(model.parent) + 1
    return Room(
        table=table,
        ngrams=ngrams_room(model.longest),
        places=np.empty(ROWS_AT_ONCE + 1, np.int64),
        starts=np.empty(WORDS_AT_ONCE, np.int64),
        stops=np.empty(WORDS_AT_ONCE, np.int64),
        states=np.empty(WORDS_AT_ONCE, np.uint64),
        hashes=np.empty(longest_bytes // 2 + 2 if model.word_ngrams > 1 else 0, np.uint64),
        sums=np.empty(model.blocks * BLOCK_NUMBERS, np.float32),
        products=np.empty(model.output_blocks * BLOCK_NUMBERS, np.float32),
        nodes=np.empty(nodes, np.int64),
        scores=np.empty(nodes, np.float32),
    )


def predict(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    model: Model,
    table: WordTable,
    asked: npt.NDArray[np.int32],
) -> Predictions:
    """`table`: of `word_table_for` for this model, in nobody else's hands meanwhile. `asked`: numbers of labels."""
    texts = offsets.size - 1
    found = Predictions(
        np.empty(texts, np.int32), np.empty(texts, np.float32), np.empty((texts, len(asked)), np.float32)
    )
    room = room_for(model, table, int(np.diff(offsets).max(initial=0)))
    _predict(offsets, with_padding(data, int(offsets[-1])), model, asked, room, *found)
    return found

"""A fastText model's tables as kernels take them, and the rows that they hold.

What enters: arrays, as formats/fasttext_model has read them and filters/fasttext_predictor has laid them. What leaves:
entries of the dictionary by their bytes, rows by their buckets, and sums of rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import (
    BYTES_IN,
    F32_IN,
    F32_OUT,
    I32_IN,
    I32_OUT,
    I64_IN,
    I64_OUT,
    U32_IN,
    U32_OUT,
    U64_OUT,
    fold,
    inline,
    kernel,
)
from gristmill.kernels.fasttext_ngrams import NGRAMS, Ngrams
from gristmill.kernels.float_rows import BLOCK_NUMBERS, add_rows
from gristmill.kernels.spans import equal_spans, hash_word, table_size
from gristmill.kernels.vector import address, count_bits

CENTROIDS = 256  # of each part of a quantised vector
ROWS_AT_ONCE = 4096  # places that are added together
WORDS_AT_ONCE = 32  # words whose entries are fetched together
ENTRY_HEAD_WORDS = 8  # of an entry of the table of words: what lies before its vector, in words of 64 bits
_MOST_ENTRIES, _TABLE_BYTES = 1 << 16, 32 << 20
ENTRY_BITS = 17  # of a slot: the number of an entry, counted from 1; above them 15 bits of its hash


class Model(NamedTuple):
    """A fastText model as kernels take it. Rows are words' first, then n-grams' in the order of their buckets."""

    text: npt.NDArray[np.uint8]  # holds the dictionary's entries
    entry_start: npt.NDArray[np.int64]
    entry_stop: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int32]  # hash -> entry, -1 = empty
    kept: npt.NDArray[np.uint32]  # a bit for each bucket that has a row
    kept_before: npt.NDArray[np.uint32]  # for each 32 buckets: how many before them have one; only if not all have
    rows: npt.NDArray[np.uint8]  # float32; empty where `codes` say it
    row_start: int  # where the first lies, in bytes
    row_bytes: int  # from one row to the next; parts of a row of codes
    codes: npt.NDArray[np.uint8]
    centroids: npt.NDArray[np.float32]  # [part, code, number]
    norms: npt.NDArray[np.float32]
    words: int
    width: int
    blocks: int  # a vector's width in blocks of float_rows
    shortest: int  # n-gram of characters
    longest: int
    word_ngrams: int
    buckets: int
    end: int  # the row of `</s>`, or -1
    output: npt.NDArray[np.float32]  # columns: [number of a vector, row of the output matrix], in blocks
    output_norms: npt.NDArray[np.float32]
    output_blocks: int
    labels: int
    loss: int  # see fasttext_labels
    left: npt.NDArray[np.int32]  # of the Huffman tree's inner nodes
    right: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]  # of all its nodes: leaves, then inner ones; the root has -1


MODEL = types.NamedTuple(
    [
        *(
            BYTES_IN,
            I64_IN,
            I64_IN,
            I32_IN,
            U32_IN,
            U32_IN,
            BYTES_IN,
            types.int64,
            types.int64,
            BYTES_IN,
            F32_IN,
            F32_IN,
        ),
        *[types.int64] * 8,
        *(F32_IN, F32_IN, types.int64, types.int64, types.int64, I32_IN, I32_IN, I32_IN),
    ],
    Model,
)


class WordTable(NamedTuple):
    """Summed vectors of words, which may be used again with the same model. For entries see fasttext_words."""

    entries: npt.NDArray[np.uint64]  # in the order in which the words came; behind the last there is room for one more
    slots: npt.NDArray[np.uint32]  # hash → entry; 0 = empty
    known: npt.NDArray[np.int64]  # [0]: how many entries there are


class Room(NamedTuple):
    """Working memory for one text after another."""

    table: WordTable
    ngrams: Ngrams
    places: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]  # of the words that are fetched together
    stops: npt.NDArray[np.int64]
    states: npt.NDArray[np.uint64]
    hashes: npt.NDArray[np.uint64]
    sums: npt.NDArray[np.float32]
    products: npt.NDArray[np.float32]
    nodes: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]


_WORD_TABLE = types.NamedTuple([U64_OUT, U32_OUT, I64_OUT], WordTable)
ROOM = types.NamedTuple(
    [_WORD_TABLE, NGRAMS, I64_OUT, I64_OUT, I64_OUT, U64_OUT, U64_OUT, F32_OUT, F32_OUT, I64_OUT, F32_OUT], Room
)


def word_table_for(blocks: int) -> WordTable:
    """An empty table: of at most 32 MB, of which no more is touched than there are words."""
    size = ENTRY_HEAD_WORDS + blocks * BLOCK_NUMBERS // 2
    entries = _MOST_ENTRIES
    while entries > 2 and entries * size * 8 > _TABLE_BYTES:
        entries //= 2
    room = np.empty((entries + 1) * size + 8, np.uint64)
    first = -room.ctypes.data % 64 // 8  # so that an entry begins with a line of the processor's cache
    return WordTable(
        room[first : first + (entries + 1) * size], np.zeros(2 * entries, np.uint32), np.zeros(1, np.int64)
    )


class Tables(NamedTuple):
    """Addresses of a model's and a room's arrays, and its numbers: what can be handed to functions for nothing."""

    text: Any
    entry_start: Any
    entry_stop: Any
    slots: Any
    slots_mask: int
    kept: Any
    kept_before: Any
    pruned: bool
    rows: Any
    row_start: int
    row_bytes: int
    dense: bool
    codes: Any
    centroids: Any
    centroid_numbers: int
    norms: Any
    words: int
    end: int
    width: int
    blocks: int
    shortest: int
    longest: int
    word_ngrams: int
    buckets: int
    bucket_reciprocal: int
    table: Any
    table_slots: Any
    table_mask: int
    known: Any
    entry_words: int
    ngrams: Ngrams
    places: Any


@inline
def tables_of(model, room):
    """The addresses. The caller keeps the arrays alive."""
    parts = 1 if model.rows.size else model.row_bytes
    ngrams = room.ngrams
    return Tables(
        address(model.text), address(model.entry_start), address(model.entry_stop),
        address(model.slots), model.slots.size - 1,
        address(model.kept), address(model.kept_before), model.kept_before.size > 0,
        address(model.rows), model.row_start, model.row_bytes, model.rows.size > 0,
        address(model.codes), address(model.centroids), model.centroids.size // (CENTROIDS * parts),
        address(model.norms), model.words, model.end, model.width, model.blocks,
        model.shortest, model.longest, model.word_ngrams,
        model.buckets, min((1 << 32) // max(model.buckets, 1), (1 << 32) - 1),
        address(room.table.entries), address(room.table.slots), room.table.slots.size - 1, address(room.table.known),
        ENTRY_HEAD_WORDS + model.blocks * (BLOCK_NUMBERS // 2),
        Ngrams(address(ngrams.values), address(ngrams.begins), address(ngrams.buckets), address(ngrams.masks)),
        address(room.places),
    )  # fmt: skip


@fold
def has_row(tables, bucket):
    return tables.kept[bucket >> 5] >> np.uint32(bucket & 31) & np.uint32(1) != 0


@fold
def place_of_bucket(tables, bucket):
    """Where the row of a bucket lies that has one."""
    row = bucket
    if tables.pruned:
        before = tables.kept[bucket >> 5] & ((np.uint32(1) << np.uint32(bucket & 31)) - np.uint32(1))
        row = np.int64(tables.kept_before[bucket >> 5]) + count_bits(np.uint64(before))
    return tables.row_start + (tables.words + row) * tables.row_bytes


@fold
def add_places(tables, vector, count):
    """Add the rows at the first `count` places of the room to `vector`, the address of float32 numbers."""
    if tables.dense:
        add_rows(vector, tables.rows, tables.places, count, tables.blocks)
        return
    numbers = tables.centroid_numbers
    for index in range(count):
        place = tables.places[index]
        norm = tables.norms[place // tables.row_bytes]
        for part in range(tables.row_bytes):
            centroid = (part * CENTROIDS + np.int64(tables.codes[place + part])) * numbers
            first = part * numbers
            for number in range(min(numbers, tables.width - first)):
                vector[first + number] += norm * tables.centroids[centroid + number]


@fold
def find_entry(tables, base, start, stop, state):
    """The dictionary's entry that is base[start:stop], whose hash is `state`; or -1."""
    slot = np.int64(state) & tables.slots_mask
    while True:
        entry = np.int64(tables.slots[slot])
        if entry < 0:
            return entry
        at = tables.entry_start[entry]
        if tables.entry_stop[entry] - at == stop - start and equal_spans(tables.text, at, base, start, stop - start):
            return entry
        slot = (slot + 1) & tables.slots_mask


@kernel(types.void(BYTES_IN, I64_IN, I64_IN, I32_OUT))
def _index(bytes_, start, stop, slots):
    text = address(bytes_)
    for entry in range(start.size):
        slot = np.int64(hash_word(text, start[entry], stop[entry])) & (slots.size - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = entry


def index_entries(
    text: npt.NDArray[np.uint8], start: npt.NDArray[np.int64], stop: npt.NDArray[np.int64]
) -> npt.NDArray[np.int32]:
    """Slots for `find_entry`. Behind each entry PADDING_BYTES of `text` are readable."""
    slots = np.full(table_size(len(start)), -1, np.int32)
    _index(text, start, stop, slots)
    return slots

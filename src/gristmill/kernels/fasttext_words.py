"""The summed vector of a word, as a fastText model has it: its own row and those of its n-grams of characters.

What enters: a model's and a room's `Tables`, and the bounds of a word. What leaves: an entry that holds how many rows
the word has, and their sum. Guaranteed: the rows are those of fastText's dictionary, added in its order; a sum depends
on the word alone, never on what the table held before. The table is of fixed size; a word has its entry in one of two
places, and where both are taken, a new word takes over one of them.
"""

from __future__ import annotations

import numpy as np

from gristmill.kernels.compile import fold, inline
from gristmill.kernels.fasttext_ngrams import (
    FNV_PRIME,
    FNV_START,
    LANES,
    LONGEST_NGRAM,
    MASKS,
    STRIDE,
    hash_ascii,
    hash_laid,
    is_short_ascii,
    lay_characters,
)
from gristmill.kernels.fasttext_tables import ENTRY_HEAD_WORDS, ROWS_AT_ONCE, add_places, find_entry, place_of_bucket
from gristmill.kernels.float_rows import add_rows, bytes_at, fetch_for_writing, floats_at
from gristmill.kernels.spans import load64, lowest_bytes
from gristmill.kernels.vector import PADDING_BYTES, copy64, first_bit

_LOW_HALF, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_LABEL_PREFIX = np.frombuffer(b"__label__", np.uint8)

# An entry of the table, in words of 64 bits: length | rows << 32; FNV hash, or NO_TOKEN; bytes; vector.
SIZES, FNV, _BYTES, _VECTOR = 0, 1, 2, ENTRY_HEAD_WORDS
_LONGEST_KEPT_BYTES = 8 * (_VECTOR - _BYTES)
_WAYS = 2  # a word has its entry in one of so many places
NO_TOKEN = np.uint64(1) << np.uint64(32)  # in the place of a hash: a label, which is no word of the text


@inline
def _fnv(data, start, stop):
    """FNV-1a, in which a byte from 0x80 up counts as negative (see fasttext_ngrams)."""
    state = np.uint64(FNV_START)
    for at in range(start, stop):
        signed = np.uint64(np.int64(np.int8(data[at])))
        state = ((state ^ signed) * np.uint64(FNV_PRIME)) & _LOW_HALF
    return state


@fold
def _ngrams_with_rows(tables, block, starts, characters, opens, closes):
    """Which of the sixteen characters from 16 * block on begin an n-gram that has a row. Clears, in the masks, the
    n-grams that are none: what reaches over the end, and a bracket alone, which fastText leaves out."""
    masks = tables.ngrams.masks
    first = LANES * block
    any_ = np.uint32(0)
    for n in range(tables.shortest, tables.longest + 1):
        at = (n - 1) * MASKS + block
        left = min(starts, characters - n + 1) - first
        if left < LANES:
            masks[at] &= np.uint32((1 << max(left, 0)) - 1)
        if n == 1 and opens and block == 0:
            masks[at] &= ~np.uint32(1)
        if n == 1 and closes and (characters - 1) // LANES == block:
            masks[at] &= ~(np.uint32(1) << np.uint32((characters - 1) % LANES))
        any_ |= masks[at]
    return np.uint64(any_)


@fold
def _add_ngrams(tables, vector, data, start, stop):
    """Add the rows of the n-grams of a word, in fastText's order: by first character, then by length; returns how
    many there are."""
    room, kept, shortest, longest = tables.ngrams, tables.kept, tables.shortest, tables.longest
    buckets, reciprocal = tables.buckets, tables.bucket_reciprocal
    rows = np.int64(0)
    at = np.int64(-1)
    while True:
        if at < 0 and is_short_ascii(data, start, stop, longest):
            whole = True
            characters = hash_ascii(room, kept, data, start, stop, shortest, longest, buckets, reciprocal)
            starts = characters
        else:
            characters, widest, whole = lay_characters(room.values, room.begins, data, start, at, stop)
            starts = characters if whole else characters - longest + 1
            hash_laid(room, kept, starts, widest, shortest, longest, buckets, reciprocal)
        count = np.int64(0)
        for block in range((starts + LANES - 1) // LANES):
            left = _ngrams_with_rows(tables, block, starts, characters, at < 0, whole)
            while left:
                lane = first_bit(left)
                left &= left - np.uint64(1)
                for n in range(tables.shortest, tables.longest + 1):
                    if room.masks[(n - 1) * MASKS + block] >> np.uint32(lane) & np.uint32(1):
                        bucket = np.int64(room.buckets[(n - 1) * STRIDE + LANES * block + lane])
                        tables.places[count] = place_of_bucket(tables, bucket)
                        count += 1
                if count > ROWS_AT_ONCE - LONGEST_NGRAM:
                    add_places(tables, vector, count)
                    rows += count
                    count = np.int64(0)
        add_places(tables, vector, count)
        rows += count
        if whole:
            return rows
        at = np.int64(room.begins[starts])


@inline
def _is_label(data, start, stop):
    at = 0
    while at < _LABEL_PREFIX.size and start + at < stop and data[start + at] == _LABEL_PREFIX[at]:
        at += 1
    return at == _LABEL_PREFIX.size


@fold
def kept_entry(tables, data, start, stop, state):
    """Where the entry of this word begins in the table, in words of 64 bits; or -1. `state` is the word's hash."""
    length = stop - start
    tag = _tag(state)
    slot = np.int64(state) & (tables.entries - 1)
    for near in range(_WAYS):
        if tables.tags[slot ^ near] == tag:
            at = (slot ^ near) * tables.entry_words
            if np.int64(tables.table[at] & _LOW_HALF) == length and _same_bytes(tables.table, at, data, start, length):
                return at
    return np.int64(-1)


@inline
def _tag(state):
    return np.uint32(state >> np.uint64(32)) | np.uint32(1)  # 0 is no entry


@fold
def _same_bytes(table, at, data, start, length):
    for word in range(at + _BYTES, at + _VECTOR):
        different = table[word] ^ load64(data, start)
        if length <= 8:
            return lowest_bytes(different, length) == np.uint64(0)
        if different:
            return False
        start += 8
        length -= 8
    return False


@fold
def _free_slot(tables, state):
    """Where to put a new word: an empty place of its two, else the one that a bit of its hash says."""
    slot = np.int64(state) & (tables.entries - 1)
    taken = tables.tags[slot] != 0
    return slot ^ np.int64(taken and (tables.tags[slot ^ 1] == 0 or state >> np.uint64(63) != 0))


@fold
def add_new_word(tables, sums, data, start, stop, state):
    """Add a word (one byte at least) that had no entry to `sums`. Returns where its entry begins: behind the table,
    where it is until the next one comes. Short words have a copy in the table; nobody waits for it to be written.
    Long ones are added row by row, without a sum of their own, as fastText does it: they may have a million rows."""
    table, size, length = tables.table, tables.entry_words, stop - start
    is_short = length <= _LONGEST_KEPT_BYTES
    at = tables.entries * size
    table_bytes = bytes_at(table)
    slot = _free_slot(tables, state)
    vector = sums
    if is_short:
        for part in range(0, 8 * size, PADDING_BYTES):
            fetch_for_writing(table_bytes, 8 * slot * size + part)
        copy64(table_bytes, 8 * (at + _BYTES), data, start)
        for word in range(_VECTOR, size):
            table[at + word] = np.uint64(0)
        vector = floats_at(table, 8 * (at + _VECTOR))
    rows = np.int64(0)
    fnv = _fnv(data, start, stop) if tables.word_ngrams > 1 else np.uint64(0)
    known = find_entry(tables, data, start, stop, state)
    if known >= tables.words or (known < 0 and _is_label(data, start, stop)):
        fnv = NO_TOKEN
    else:
        if known >= 0:
            tables.places[0] = tables.row_start + known * tables.row_bytes
            add_places(tables, vector, 1)
            rows += 1
        if tables.longest > 0:
            rows += _add_ngrams(tables, vector, data, start, stop)
    table[at + SIZES] = np.uint64(length) & _LOW_HALF | np.uint64(rows) << _HALF
    table[at + FNV] = fnv
    if is_short:
        tables.tags[slot] = _tag(state)
        for part in range(0, 8 * size, PADDING_BYTES):
            copy64(table_bytes, 8 * slot * size + part, table_bytes, 8 * at + part)
        tables.places[0] = 8 * (at + _VECTOR)
        add_rows(sums, table, tables.places, 1, tables.blocks)
    return at

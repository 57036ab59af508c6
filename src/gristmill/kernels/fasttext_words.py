"""The summed vector of a word, as a fastText model has it: its own row and those of its n-grams of characters.

What enters: a model's and a room's `Tables`, and the bounds of a word. What leaves: an entry that holds how many rows
the word has, and their sum. Guaranteed: the rows are those of fastText's dictionary, added in its order; a sum depends
on the word alone, never on what the table held before. Entries lie in the order in which their words came, so those of
frequent words lie together; when the table is full, it is emptied.
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
from gristmill.kernels.fasttext_tables import (
    ENTRY_BITS,
    ENTRY_HEAD_WORDS,
    ROWS_AT_ONCE,
    add_places,
    find_entry,
    place_of_bucket,
)
from gristmill.kernels.float_rows import add_rows, bytes_at, floats_at
from gristmill.kernels.spans import load64, lowest_bytes
from gristmill.kernels.vector import copy64, first_bit

_LOW_HALF, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_LABEL_PREFIX = np.frombuffer(b"__label__", np.uint8)

# An entry of the table, in words of 64 bits: length | rows << 32; FNV hash, or NO_TOKEN; bytes; vector.
SIZES, FNV, _BYTES, _VECTOR = 0, 1, 2, ENTRY_HEAD_WORDS
_LONGEST_KEPT_BYTES = 8 * (_VECTOR - _BYTES)
_NUMBER = (1 << ENTRY_BITS) - 1
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
def slot_of(tables, state):
    """Where the word with this hash is looked for first."""
    return np.int64(state) & tables.table_mask


@fold
def kept_entry(tables, data, start, stop, state):
    """Where the entry of this word begins in the table, in words of 64 bits; or -1. `state` is the word's hash."""
    length = stop - start
    slot = slot_of(tables, state)
    while True:
        found = tables.table_slots[slot]
        if found == 0:
            return np.int64(-1)
        if (np.int64(found) ^ _tag(state)) >> ENTRY_BITS == 0:
            at = _entry_of(tables, found)
            if np.int64(tables.table[at] & _LOW_HALF) == length and _same_bytes(tables.table, at, data, start, length):
                return at
        slot = (slot + 1) & tables.table_mask


@fold
def likely_entry(tables, state):
    """Where the entry of the word with this hash most likely begins."""
    return _entry_of(tables, tables.table_slots[slot_of(tables, state)])


@fold
def _entry_of(tables, slot):
    return max(np.int64(slot) & _NUMBER, 1) * tables.entry_words - tables.entry_words


@inline
def _tag(state):
    """The upper bits of a hash, where a slot has them."""
    return np.int64(state >> np.uint64(64 - 32 + ENTRY_BITS)) << ENTRY_BITS


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
def _new_entry(tables, state):
    """Where the entry of a new word is to begin, from now on in its slot."""
    if 2 * tables.known[0] > tables.table_mask:
        for slot in range(tables.table_mask + 1):
            tables.table_slots[slot] = np.uint32(0)
        tables.known[0] = 0
    slot = slot_of(tables, state)
    while tables.table_slots[slot] != 0:
        slot = (slot + 1) & tables.table_mask
    tables.known[0] += 1
    tables.table_slots[slot] = np.uint32(_tag(state) | tables.known[0])
    return (tables.known[0] - 1) * tables.entry_words


@fold
def add_new_word(tables, sums, data, start, stop, state):
    """Add a word (one byte at least) that had no entry to `sums`. Returns where its entry begins. A short word gets one
    in the table. Long ones are added row by row, without a sum of their own, as fastText does it: they may have a
    million rows; what is said of them is behind the table until the next one comes."""
    table, size, length = tables.table, tables.entry_words, stop - start
    is_short = length <= _LONGEST_KEPT_BYTES
    at = (tables.table_mask + 1) // 2 * size
    vector = sums
    if is_short:
        at = _new_entry(tables, state)
        copy64(bytes_at(table), 8 * (at + _BYTES), data, start)
        for word in range(at + _VECTOR, at + size):
            table[word] = np.uint64(0)
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
        tables.places[0] = 8 * (at + _VECTOR)
        add_rows(sums, table, tables.places, 1, tables.blocks)
    return at

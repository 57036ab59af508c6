"""Anchors: the few positions of a text at which all its windows of N bytes can be told apart.

What enters: the two buffers of a string column. What leaves: for each anchor the hash of its key (the `key_bytes`
bytes that begin there), the hash of its context (all bytes of all windows it speaks for), and its place (places.py):
where the first of its windows begins, how far behind that the anchor is, and how many windows there are. Guaranteed:
every window of a document belongs to exactly one anchor, chosen by the window's own bytes alone. So two equal windows,
wherever they lie, have equal keys, as far from their beginnings; where contexts are equal, windows are, one by one.

`hash_blocks` does the same for windows of chosen anchors, a few at a time: a block is windows whose distances to their
anchor agree but for the remainder by `block_windows`. Its key is what all windows of a whole such block would share,
its context what those that there are see. A block of one window is the window, twice.

The anchor of a window is the key in it with the smallest rolling hash, the last one where several are smallest
(minimizers: Roberts et al. 2004; winnowing: Schleimer et al. 2003). Random text has 2 / (N - key_bytes + 2) anchors a
byte: 2 % for N = 200 and keys of 100 bytes.

Text with a period has an anchor a period, each with the key and the context of the one before. Those are not given
but gathered as repeats, so that a megabyte of one character leaves one anchor and a few repeats.

Speed: 250 MB/s a core for N = 200, hashing included. Tried and rejected: hashing through numpy's indices instead of
addresses, 2.3 GB/s instead of 13.7; anchors and windows without blocks between them, on 60 MB made of real sentences at
random: 365 MB of hashes instead of 117, and two thirds of all time in hashing and sorting windows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_IN, I64_IN, I64_OUT, U64_OUT, inline, kernel
from gristmill.kernels.hashing import SEED_HIGH, SEED_LOW, xxh64
from gristmill.kernels.places import COUNT_BITS, MOST_COUNT, PLACE_BITS
from gristmill.kernels.vector import address

_BASE = np.uint64(0xD6E8FEB86659FD93)
_NO_HASH = ~np.uint64(0)


class Anchors(NamedTuple):
    """Anchors of some texts, in order, and the places of those that only say again what the one before them said."""

    key: npt.NDArray[np.uint64]
    context: npt.NDArray[np.uint64]
    place: npt.NDArray[np.int64]
    repeats: npt.NDArray[np.int64]  # places, without anchors; their windows lie before in the same document


@inline
def _power(exponent):
    value = np.uint64(1)
    for _ in range(exponent):
        value *= _BASE
    return value


@inline
def _grown(array, count):
    if count < array.size:
        return array
    larger = np.empty(2 * array.size, array.dtype)
    larger[:count] = array
    return larger


@inline
def _last_smallest(hashes, mask, first, last):
    best = last
    smallest = hashes[last & mask]
    for position in range(last - 1, first - 1, -1):
        if hashes[position & mask] < smallest:
            smallest = hashes[position & mask]
            best = position
    return best


_ANCHORS = types.Tuple((U64_OUT, U64_OUT, I64_OUT, I64_OUT))(I64_IN, BYTES_IN, types.int64, types.int64, types.int64)


@kernel(_ANCHORS)
def _anchors(offsets, bytes_, first_byte, window_bytes, key_bytes):
    data = address(bytes_)
    keys_in_window = window_bytes - key_bytes + 1
    ring_size = np.int64(1)
    while ring_size < keys_in_window + 1:
        ring_size *= 2
    mask = ring_size - 1
    hashes = np.empty(ring_size, np.uint64)
    leaving = _power(key_bytes)

    room = (offsets[offsets.size - 1] - offsets[0]) // keys_in_window + 1024
    key = np.empty(room, np.uint64)
    context = np.empty(room, np.uint64)
    place = np.empty(room, np.int64)
    repeats = np.empty(64, np.int64)
    count = np.int64(0)
    repeated = np.int64(0)
    for document in range(offsets.size - 1):
        start = offsets[document]
        stop = offsets[document + 1]
        if stop - start < window_bytes:
            continue
        to_place = first_byte - offsets[0]
        rolling = np.uint64(0)
        for at in range(start, start + key_bytes - 1):
            rolling = rolling * _BASE + np.uint64(data[at])
        best = np.int64(-1)
        smallest = _NO_HASH
        anchor = np.int64(-1)  # of the windows that begin at first_window and behind
        anchor_hash = _NO_HASH
        first_window = np.int64(-1)
        previous_key = np.uint64(0)
        previous_context = np.uint64(0)
        previous_stop = np.int64(-1)  # of the last anchor's windows; -1 before the first anchor
        repeat_stop = np.int64(-1)
        for position in range(start, stop - key_bytes + 2):
            last = position == stop - key_bytes + 1
            if not last:
                rolling = rolling * _BASE + np.uint64(data[position + key_bytes - 1])
                if position > start:
                    rolling -= leaving * np.uint64(data[position - 1])
                hashes[position & mask] = rolling
                if rolling <= smallest:
                    smallest = rolling
                    best = position
            window = position - keys_in_window + 1
            if window < start:
                continue
            if not last:
                if best < window:
                    best = _last_smallest(hashes, mask, window, position)
                    smallest = hashes[best & mask]
                if best == anchor:
                    continue
            if anchor >= 0:
                windows = window - first_window
                said = xxh64(data, first_window, window - 1 + window_bytes, SEED_LOW)
                if previous_stop >= 0 and anchor_hash == previous_key and said == previous_context:
                    goes_on = repeat_stop == first_window
                    if goes_on and (repeats[repeated - 1] & MOST_COUNT) + windows <= MOST_COUNT:
                        repeats[repeated - 1] += windows
                    else:
                        repeats = _grown(repeats, repeated)
                        repeats[repeated] = (to_place + first_window) << PLACE_BITS | windows
                        repeated += 1
                    repeat_stop = window
                else:
                    if count == key.size:
                        key = _grown(key, count)
                        context = _grown(context, count)
                        place = _grown(place, count)
                    key[count] = anchor_hash
                    context[count] = said
                    distance = anchor - first_window
                    place[count] = (to_place + first_window) << PLACE_BITS | distance << COUNT_BITS | windows
                    count += 1
                previous_key = anchor_hash
                previous_context = said
                previous_stop = window
            anchor = best
            anchor_hash = smallest
            first_window = window
    return key[:count], context[:count], place[:count], repeats[:repeated]


def find_anchors(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    first_byte: int,
    window_bytes: int,
) -> Anchors:
    """The anchors of all windows of `window_bytes`; places count from `first_byte` at the first text's beginning."""
    return Anchors(*_anchors(offsets, data, first_byte, window_bytes, key_bytes_of(window_bytes)))


def key_bytes_of(window_bytes: int) -> int:
    """How long keys are: half a window."""
    return max(1, window_bytes // 2)


_BLOCKS = types.int64(BYTES_IN, I64_IN, types.int64, types.int64, types.int64, U64_OUT, U64_OUT, I64_OUT)


@kernel(_BLOCKS)
def _hash_blocks(bytes_, places, first_byte, window_bytes, block_windows, key, context, place):
    data = address(bytes_)
    count = np.int64(0)
    for number in range(places.size):
        window = (places[number] >> PLACE_BITS) - first_byte
        stop = window + (places[number] & MOST_COUNT)
        anchor = window + (places[number] >> COUNT_BITS & MOST_COUNT)
        while window < stop:
            last_of_block = anchor - (anchor - window) // block_windows * block_windows
            last = min(last_of_block, stop - 1)
            key[count] = xxh64(data, last_of_block, last_of_block - block_windows + 1 + window_bytes, SEED_LOW)
            context[count] = xxh64(data, window, last + window_bytes, SEED_HIGH)
            place[count] = (first_byte + window) << PLACE_BITS | (last + 1 - window)
            count += 1
            window = last + 1
    return count


def hash_blocks(
    data: npt.NDArray[np.uint8],
    places: npt.NDArray[np.int64],
    first_byte: int,
    window_bytes: int,
    block_windows: int,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Key, context and place of each block of the windows of these places; `data` begins at `first_byte`."""
    room = int((places & MOST_COUNT).sum()) // block_windows + 2 * len(places)
    key, context, place = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.int64)
    count = _hash_blocks(data, places, first_byte, window_bytes, block_windows, key, context, place)
    return key[:count], context[:count], place[:count]

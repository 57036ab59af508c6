"""Hashes of texts: 128 bits each, the two 64-bit halves from two seeds of one xxHash64-like loop.

The hash is Gristmill's own and part of the format: a change of it changes every sketch on disk, so raise
`dedup.exact.Exact.VERSION` with it.
"""

from __future__ import annotations

import numpy as np
from numba import types

from gristmill.kernels.compile import BYTES_IN, I64_IN, U64_OUT, inline, kernel
from gristmill.kernels.vector import address

_PRIME_1 = np.uint64(0x9E3779B185EBCA87)
_PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_PRIME_3 = np.uint64(0x165667B19E3779F9)
_PRIME_4 = np.uint64(0x85EBCA77C2B2AE63)
_PRIME_5 = np.uint64(0x27D4EB2F165667C5)
SEED_LOW = np.uint64(0)
SEED_HIGH = np.uint64(0x9E3779B97F4A7C15)


@inline
def _rotate(value, bits):
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@inline
def _word(data, at):
    """Eight bytes, little end first; LLVM makes one load of it."""
    value = np.uint64(0)
    for near in range(8):
        value |= np.uint64(data[at + near]) << np.uint64(8 * near)
    return value


@inline
def _round(lane, word):
    return _rotate(lane + word * _PRIME_2, 31) * _PRIME_1


@inline
def _merge(value, lane):
    return (value ^ _round(np.uint64(0), lane)) * _PRIME_1 + _PRIME_4


@inline
def xxh64(data, start, stop, seed):
    """xxHash64 of data[start:stop] (the published algorithm; tests compare with the xxhash package)."""
    length = stop - start
    at = start
    if length >= 32:
        one = seed + _PRIME_1 + _PRIME_2
        two = seed + _PRIME_2
        three = seed
        four = seed - _PRIME_1
        while at + 32 <= stop:
            one = _round(one, _word(data, at))
            two = _round(two, _word(data, at + 8))
            three = _round(three, _word(data, at + 16))
            four = _round(four, _word(data, at + 24))
            at += 32
        value = _rotate(one, 1) + _rotate(two, 7) + _rotate(three, 12) + _rotate(four, 18)
        value = _merge(_merge(_merge(_merge(value, one), two), three), four)
    else:
        value = seed + _PRIME_5
    value += np.uint64(length)
    while at + 8 <= stop:
        value = _rotate(value ^ _round(np.uint64(0), _word(data, at)), 27) * _PRIME_1 + _PRIME_4
        at += 8
    if at + 4 <= stop:
        half = np.uint64(0)
        for near in range(4):
            half |= np.uint64(data[at + near]) << np.uint64(8 * near)
        value = _rotate(value ^ (half * _PRIME_1), 23) * _PRIME_2 + _PRIME_3
        at += 4
    while at < stop:
        value = _rotate(value ^ (np.uint64(data[at]) * _PRIME_5), 11) * _PRIME_1
        at += 1
    value = (value ^ (value >> np.uint64(33))) * _PRIME_2
    value = (value ^ (value >> np.uint64(29))) * _PRIME_3
    return value ^ (value >> np.uint64(32))


@kernel(types.void(I64_IN, BYTES_IN, U64_OUT, U64_OUT))
def hash_texts(offsets, bytes_, low, high):
    """128 bits for each text: two xxHash64 of the same bytes under two seeds. By address: 13.7 GB/s instead of 2.3."""
    data = address(bytes_)
    for text in range(len(offsets) - 1):
        low[text] = xxh64(data, offsets[text], offsets[text + 1], SEED_LOW)
        high[text] = xxh64(data, offsets[text], offsets[text + 1], SEED_HIGH)


@kernel(types.void(I64_IN, BYTES_IN, types.uint64, U64_OUT))
def hash_with_seed(offsets, bytes_, seed, hashes):
    """xxHash64 of each text under a seed."""
    data = address(bytes_)
    for text in range(len(offsets) - 1):
        hashes[text] = xxh64(data, offsets[text], offsets[text + 1], seed)

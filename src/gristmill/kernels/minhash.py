"""MinHash: words to shingles, shingles to the hashes of buckets.

What enters: the words of some documents. What leaves: for each bucket and document a 64-bit hash of the smallest
values that the bucket's permutations give any of its shingles, its runs of `ngram` words. Two documents agree in one
bucket of r permutations with a probability of J**r, J being the Jaccard similarity of their sets of shingles.
A document of fewer words than `ngram` has no shingle and is like no other.

Tried and rejected: see kernels/minima.py for the inner loop. Hashing a shingle's bytes anew for each shingle instead of
combining its words' hashes: every word would be read `ngram` times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import (
    BOOL_OUT,
    BYTES_IN,
    I64_IN,
    I64_OUT,
    U32_IN,
    U32_OUT,
    U64_IN,
    U64_OUT,
    inline,
    kernel,
)
from gristmill.kernels.minima import LANES, lower_minima
from gristmill.kernels.spans import hash_span
from gristmill.kernels.vector import address
from gristmill.kernels.words import Words

_ODD = np.uint64(0x9E3779B97F4A7C15)
_OTHER_ODD = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_LARGEST = np.uint32(0xFFFFFFFF)


@inline
def _hash_shingles(data, start, stop, first, words, ngram, hashes, shingles):
    """Fills shingles[:words - ngram + 1] with 64-bit hashes, by way of those of words."""
    for word in range(words):
        hashes[word] = hash_span(data, start[first + word], stop[first + word])
    count = words - ngram + 1
    for shingle in range(count):
        shingles[shingle] = hashes[shingle]
    for later in range(1, ngram):
        for shingle in range(count):
            shingles[shingle] = shingles[shingle] * _ODD + hashes[shingle + later]
    for shingle in range(count):
        state = shingles[shingle]
        shingles[shingle] = (state ^ (state >> _HALF)) * _OTHER_ODD
    return count


@kernel(
    types.void(
        I64_IN, I64_IN, I64_IN, BYTES_IN, types.int64, types.int64, types.int64, U32_IN, U32_IN, U64_OUT, U64_OUT,
        U32_OUT, U64_OUT, BOOL_OUT,
    )
)  # fmt: skip
def _sign(first, start, stop, bytes_, ngram, buckets, each, odds, salts, hashes, shingles, numbers, out, without):
    data = address(bytes_)
    number_at, odd_at, salt_at = address(numbers), address(odds), address(salts)
    minima = np.empty(len(odds), np.uint32)
    minimum_at = address(minima)
    documents = len(first) - 1
    for document in range(documents):
        words = first[document + 1] - first[document]
        without[document] = words < ngram
        if words < ngram:
            continue
        count = _hash_shingles(data, start, stop, first[document], words, ngram, hashes, shingles)
        for shingle in range(count):
            numbers[shingle] = np.uint32(shingles[shingle] >> _HALF)
        minima[:] = _LARGEST
        for lane in range(0, len(odds), LANES):
            lower_minima(number_at, count, odd_at, salt_at, minimum_at, lane)
        for bucket in range(buckets):
            state = np.uint64(bucket)
            for at in range(bucket * each, (bucket + 1) * each):
                state = (state ^ np.uint64(minima[at])) * _ODD
                state ^= state >> _HALF
            out[bucket * documents + document] = state * _OTHER_ODD


@kernel(types.int64(I64_IN, I64_IN, I64_IN, BYTES_IN, types.int64, U64_OUT, U64_OUT, I64_OUT, U64_OUT))
def _collect(first, start, stop, bytes_, ngram, hashes, shingles, offsets, out):
    data = address(bytes_)
    written = 0
    offsets[0] = 0
    for document in range(len(first) - 1):
        words = first[document + 1] - first[document]
        if words >= ngram:
            count = _hash_shingles(data, start, stop, first[document], words, ngram, hashes, shingles)
            ascending = np.sort(shingles[:count])
            for at in range(count):
                if at == 0 or ascending[at] != ascending[at - 1]:
                    out[written] = ascending[at]
                    written += 1
        offsets[document + 1] = written
    return written


@kernel(types.float64(U64_IN, U64_IN))
def jaccard(one, other):
    """The size of the intersection over that of the union, of two ascending sets; 0 where both are empty."""
    left = right = both = 0
    while left < len(one) and right < len(other):
        both += one[left] == other[right]
        step = one[left] <= other[right]
        right += other[right] <= one[left]
        left += step
    union = len(one) + len(other) - both
    return both / union if union else 0.0


class Permutations(NamedTuple):
    """Constants for some permutations; behind the last one so many that they fill the lanes."""

    odds: npt.NDArray[np.uint32]
    salts: npt.NDArray[np.uint32]


def permutations(count: int) -> Permutations:
    """The first `count` permutations: always the same ones."""
    whole = -(-count // LANES) * LANES
    state = np.arange(1, 2 * whole + 1, dtype=np.uint64) * _ODD  # splitmix64
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    numbers = (state >> _HALF).astype(np.uint32).reshape(-1, 2)
    return Permutations(numbers[:, 0] | np.uint32(1), np.ascontiguousarray(numbers[:, 1]))


def sign(
    words: Words, ngram: int, buckets: int, hashes_per_bucket: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """A row of hashes for each bucket, and which documents have none (theirs mean nothing)."""
    documents = len(words.first) - 1
    odds, salts = permutations(buckets * hashes_per_bucket)
    out, without = np.zeros(buckets * documents, np.uint64), np.empty(documents, np.bool_)
    hashes, shingles = _room(words)
    numbers = np.empty(len(hashes), np.uint32)
    _sign(*words, ngram, buckets, hashes_per_bucket, odds, salts, hashes, shingles, numbers, out, without)
    return out.reshape(buckets, documents), without


def shingle_sets(words: Words, ngram: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Each document's set of shingles, ascending 64-bit hashes between offsets."""
    offsets, out = np.empty(len(words.first), np.int64), np.empty(len(words.start), np.uint64)
    written = _collect(*words, ngram, *_room(words), offsets, out)
    return offsets, out[:written]


def _room(words: Words) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    most = int(np.diff(words.first).max(initial=0))
    return np.empty(most, np.uint64), np.empty(most, np.uint64)

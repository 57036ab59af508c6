"""MinHash as datatrove 0.10.1 has it, bit for bit: xxHash64 of joined words, permutations modulo 2**61 - 1.

What enters: the words of some documents; constants of permutations. What leaves: the hashes of each document's
shingles, and each permutation's minimum over them. A permutation is x → (x * a + b) mod 2**64 mod (2**61 - 1): the
product overflows, in datatrove as here.

The remainder needs no division, for 2**61 is 1 modulo 2**61 - 1: the upper three bits are added to the others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, U64_IN, U64_OUT, kernel
from gristmill.kernels.hashing import SEED_LOW, xxh64
from gristmill.kernels.vector import address
from gristmill.kernels.words import Words

MERSENNE_PRIME = (1 << 61) - 1
_PRIME = np.uint64(MERSENNE_PRIME)
_BITS = np.uint64(61)
_BLANK = np.uint8(0x20)
_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel(types.int64(I64_IN, I64_IN, I64_IN, BYTES_IN, types.int64, BYTES_OUT, I64_OUT, I64_OUT, U64_OUT))
def _hash_shingles(first, start, stop, bytes_, ngram, room, begins, offsets, out):
    data, joined = address(bytes_), address(room)
    count = np.int64(0)
    offsets[0] = 0
    for document in range(first.size - 1):
        words = first[document + 1] - first[document]
        if words >= ngram:
            written = np.int64(0)
            for word in range(words):
                begins[word] = written
                for at in range(start[first[document] + word], stop[first[document] + word]):
                    joined[written] = data[at]
                    written += 1
                joined[written] = _BLANK
                written += 1
            begins[words] = written
            for word in range(words - ngram + 1):
                out[count] = xxh64(joined, begins[word], begins[word + ngram] - 1, SEED_LOW)
                count += 1
        offsets[document + 1] = count
    return count


def hash_shingles(words: Words, ngram: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """xxHash64 of each run of `ngram` words, joined by blanks: offsets by document, and the hashes."""
    offsets, out = np.zeros(len(words.first), np.int64), np.empty(len(words.start), np.uint64)
    lengths = np.append(0, np.cumsum(words.stop - words.start + 1))
    room = np.empty(int(np.diff(lengths[words.first]).max(initial=0)) + 8, np.uint8)
    begins = np.empty(int(np.diff(words.first).max(initial=0)) + 1, np.int64)
    written = _hash_shingles(*words, ngram, room, begins, offsets, out)
    return offsets, out[:written]


@kernel(types.void(I64_IN, U64_IN, U64_IN, U64_IN, types.uint64, types.Array(types.uint64, 2, "C")))
def _lower_minima(offsets, shingles, factors, addends, mask, out):
    for document in range(offsets.size - 1):
        minima = out[document]
        for permutation in range(factors.size):
            minima[permutation] = _LARGEST
        for at in range(offsets[document], offsets[document + 1]):
            shingle = shingles[at]
            for permutation in range(factors.size):
                product = shingle * factors[permutation] + addends[permutation]
                value = (product & _PRIME) + (product >> _BITS)
                value = (value - _PRIME if value >= _PRIME else value) & mask
                minima[permutation] = min(minima[permutation], value)


def minima(
    offsets: npt.NDArray[np.int64],
    shingles: npt.NDArray[np.uint64],
    factors: npt.NDArray[np.uint64],
    addends: npt.NDArray[np.uint64],
    mask: int,
) -> npt.NDArray[np.uint64]:
    """[document, permutation]: the smallest value, `mask` applied first; all ones for a document without shingles."""
    out = np.empty((len(offsets) - 1, len(factors)), np.uint64)
    _lower_minima(offsets, shingles, factors, addends, np.uint64(mask), out)
    return out

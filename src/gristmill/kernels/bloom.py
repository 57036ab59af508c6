"""A Bloom filter: bits that say whether a hash was seen, wrongly now and then, never the other way round.

What enters: 128-bit hashes in two halves, in order. What leaves: which of them were in the filter already; then they
are. The k bits of a hash are (low + i * high) modulo the number of bits (Kirsch and Mitzenmacher, 2006).
"""

from __future__ import annotations

import numpy as np
from numba import types

from gristmill.kernels.compile import BOOL_OUT, U64_IN, U64_OUT, kernel


@kernel(types.void(U64_IN, U64_IN, types.int64, U64_OUT, BOOL_OUT))
def see(low, high, probes, words, seen):
    """`words` holds 64 bits each; one bit is one hash's only by chance."""
    bits = np.uint64(len(words)) * np.uint64(64)
    for at in range(len(low)):
        state = low[at]
        step = high[at] | np.uint64(1)
        known = True
        for _ in range(probes):
            bit = state % bits
            word = np.int64(bit >> np.uint64(6))
            mask = np.uint64(1) << (bit & np.uint64(63))
            known &= words[word] & mask != 0
            words[word] |= mask
            state += step
        seen[at] = known

"""Equal hashes in a sorted column: who stands in a group, and with whom.

What enters: hashes in ascending order, and the position of the document behind each. What leaves: pairs (lowest
position of the group, another position of it). Position 0 is nobody's: it stands for what an index remembers.
"""

from __future__ import annotations

import numpy as np
from numba import types

from gristmill.kernels.compile import I64_OUT, U64_IN, inline, kernel


@inline
def _join(positions, start, stop, lowest, others, count):
    first = positions[start]
    for at in range(start + 1, stop):
        first = min(first, positions[at])
    for at in range(start, stop):
        if positions[at] != first:
            lowest[count] = first
            others[count] = positions[at]
            count += 1
    return count


@kernel(types.int64(U64_IN, U64_IN, I64_OUT, I64_OUT, I64_OUT))
def pairs_of_equal(hashes, further, positions, lowest, others):
    """Writes the pairs and returns their number, which is below the number of hashes. `hashes` ascends; `further`
    is empty, or the other half of each hash, in any order: then both halves have to be equal. `positions` is
    reordered within equal hashes."""
    count = 0
    start = 0
    while start < len(hashes):
        stop = start + 1
        while stop < len(hashes) and hashes[stop] == hashes[start]:
            stop += 1
        alike = True
        if len(further) > 0:
            for at in range(start + 1, stop):
                alike &= further[at] == further[start]
        if alike:
            count = _join(positions, start, stop, lowest, others, count)
        else:  # two texts that share 64 bits: never seen, and yet it must be right
            order = np.argsort(further[start:stop])
            seconds = further[start:stop][order]
            positions[start:stop] = positions[start:stop][order]
            left = 0
            while left < stop - start:
                right = left + 1
                while right < stop - start and seconds[right] == seconds[left]:
                    right += 1
                count = _join(positions, start + left, start + right, lowest, others, count)
                left = right
        start = stop
    return count

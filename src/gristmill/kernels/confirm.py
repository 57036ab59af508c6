"""Candidates compared by what they have in common: who is near enough to one that stays, goes.

What enters: sets of hashes, ascending, of the members of clusters. What leaves: for each member the one that stays for
it, or itself. Guaranteed: who goes is as similar as asked to the one that stays for it, and that one stays.
"""

from __future__ import annotations

import numpy as np
from numba import types

from gristmill.kernels.compile import I64_IN, I64_OUT, U64_IN, kernel
from gristmill.kernels.minhash import jaccard

MOST_COMPARED = 1000  # a member is compared with so many that stay in its cluster, the first ones


@kernel(types.void(I64_IN, types.int64, I64_IN, I64_IN, U64_IN, types.float64, I64_OUT, I64_OUT, I64_OUT, I64_OUT))
def confirm(order, earlier, roots, offsets, hashes, least, first, last, following, survivors):
    """Members are taken in `order`; member m's set is hashes[offsets[m]:offsets[m + 1]], roots[m] is its cluster's
    root, a member, too. The `earlier` first ones stay without being compared. `first`, `last` and `following` link the
    members of a cluster that stay, and are -1 before."""
    for place in range(len(order)):
        member = order[place]
        root = roots[member]
        one = hashes[offsets[member] : offsets[member + 1]]
        other = first[root] if place >= earlier else np.int64(-1)
        survivors[member] = member
        compared = 0
        while other >= 0 and compared < MOST_COMPARED:
            if jaccard(hashes[offsets[other] : offsets[other + 1]], one) >= least:
                survivors[member] = other
                break
            other = following[other]
            compared += 1
        if survivors[member] == member:
            if last[root] >= 0:
                following[last[root]] = member
            else:
                first[root] = member
            last[root] = member

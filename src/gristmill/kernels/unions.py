"""Union-find over an array of parents, which may be a memory-mapped file: pairs in, clusters out.

Guaranteed: parents[i] <= i, so the root of a cluster is its lowest position, whatever the order of the pairs.
"""

from __future__ import annotations

from numba import types

from gristmill.kernels.compile import F64_IN, F64_OUT, I64_IN, I64_OUT, U32_OUT, inline, kernel


@inline
def _root(parents, at):
    while parents[at] != at:
        parents[at] = parents[parents[at]]  # halves the path for whoever comes next
        at = parents[at]
    return at


@kernel(types.void(I64_OUT, I64_IN, I64_IN))
def unite(parents, ones, others):
    """Put the two positions of each pair into one cluster."""
    for pair in range(len(ones)):
        one = _root(parents, ones[pair])
        other = _root(parents, others[pair])
        if one < other:
            parents[other] = one
        elif other < one:
            parents[one] = other


@kernel(types.void(I64_OUT))
def flatten(parents):
    """Make every parent a root: one pass upwards does, because parents stand below their children."""
    for at in range(len(parents)):
        parents[at] = parents[parents[at]]


@kernel(types.void(I64_IN, U32_OUT))
def count_members(roots, sizes):
    """Add up, at each root's place, how many positions have it."""
    for at in range(len(roots)):
        sizes[roots[at]] += 1


@kernel(types.void(I64_IN, types.int64, F64_IN, F64_OUT, I64_OUT))
def rank_members(roots, first, ranks, best_rank, best):
    """For the positions from `first` on: keep at each root's place its member of the highest rank, among equals the
    lowest. `best` is 0 where there is none yet."""
    for at in range(len(ranks)):
        root = roots[first + at]
        if best[root] == 0 or ranks[at] > best_rank[root]:
            best_rank[root] = ranks[at]
            best[root] = first + at

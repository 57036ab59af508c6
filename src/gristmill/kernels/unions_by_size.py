"""Clusters of pairs where it matters who stays: united by size, in the order of the pairs, as datatrove does it.

What enters: pairs of nodes, numbered from 0. What leaves: each node's root, who stays for its cluster, and the size of
the cluster at its root. Of two clusters the larger one's root stays, the first one's if they are equal; the root of the
node that stands for an index always does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import I64_OUT, inline, kernel


@inline
def _root(parent, node):
    """With every second node on the way put nearer to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel(types.void(types.Array(types.int64, 2, "C", readonly=True), types.int64, I64_OUT, I64_OUT))
def _unite(pairs, of_index, parent, size):
    for pair in range(pairs.shape[0]):
        one = _root(parent, pairs[pair, 0])
        other = _root(parent, pairs[pair, 1])
        if one == other:
            continue
        if other == of_index or (one != of_index and size[one] < size[other]):
            one, other = other, one
        parent[other] = one
        size[one] += size[other]
    for node in range(parent.size):
        parent[node] = _root(parent, node)


def unite(pairs: npt.NDArray[np.int64], nodes: int, of_index: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Root and size by node; `of_index` is -1 where no node stands for an index."""
    root, size = np.arange(nodes, dtype=np.int64), np.ones(nodes, np.int64)
    _unite(np.ascontiguousarray(pairs, np.int64), of_index, root, size)
    return root, size

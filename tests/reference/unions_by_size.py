"""Slow, obvious twin of kernels/unions_by_size.py: every node carries its cluster with it."""

from __future__ import annotations


def unite(pairs: list[tuple[int, int]], nodes: int, of_index: int) -> tuple[list[int], list[int]]:
    """The root of each node, and how many nodes its cluster has."""
    root = list(range(nodes))
    for pair in pairs:
        one, other = (root[node] for node in pair)
        first, second = (root.count(each) for each in (one, other))
        if of_index != one and (other == of_index or first < second):
            one, other = other, one
        root = [one if each == other else each for each in root]
    return root, [root.count(each) for each in root]

"""The slow twin of loader/mixture.py: one position after the other."""

from __future__ import annotations

from fractions import Fraction

BLOCK = 1 << 16


def sets_in_turn(counts: list[int]) -> list[int]:
    """Whose turn each position of a block is: the i-th of set k is due at (i + 1/2) / counts[k]."""
    due = [(Fraction(2 * i + 1, 2 * count), k) for k, count in enumerate(counts) for i in range(count)]
    return [k for _, k in sorted(due)]


def stream(counts: list[int], rows_of_sets: list[int], begin: int, end: int) -> list[int]:
    """Row numbers of these positions, sets in packed order."""
    turns = sets_in_turn(counts)
    taken = [begin // BLOCK * count for count in counts]
    found = []
    for position in range(begin // BLOCK * BLOCK, end):
        k = turns[position % BLOCK]
        if position >= begin:
            found.append(sum(rows_of_sets[:k]) + taken[k] % rows_of_sets[k])
        taken[k] += 1
    return found

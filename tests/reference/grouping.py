"""Slow, obvious twins of kernels/radix.py, equal.py, unions.py, confirm.py and bloom.py."""

from __future__ import annotations

from collections.abc import Sequence


def sort_hashes(hashes: Sequence[int], numbers: Sequence[int]) -> list[tuple[int, int]]:
    return sorted(zip(hashes, numbers, strict=True), key=lambda item: item[0])


def pairs_of_equal(hashes: Sequence[tuple[int, ...]], positions: Sequence[int]) -> set[tuple[int, int]]:
    found = set()
    for hash_ in set(hashes):
        group = [position for other, position in zip(hashes, positions, strict=True) if other == hash_]
        found |= {(min(group), position) for position in group if position != min(group)}
    return found


def roots(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The lowest of all that hang together, for each."""
    sets = [{at} for at in range(count)]
    for one, other in pairs:
        joined = sets[one] | sets[other]
        for member in joined:
            sets[member] = joined
    return [min(members) for members in sets]


def confirm(
    order: Sequence[int], earlier: int, of_cluster: Sequence[int], sets: Sequence[set[int]], least: float
) -> list[int]:
    """The one that stays, for each member: itself, or the first that stays before it and is similar enough. The
    `earlier` first ones stay."""
    stays: list[int] = []
    found = list(range(len(sets)))
    for place, member in enumerate(order):
        for other in stays if place >= earlier else ():
            union = sets[member] | sets[other]
            alike = len(sets[member] & sets[other]) / len(union) if union else 0.0
            if of_cluster[other] == of_cluster[member] and alike >= least:
                found[member] = other
                break
        else:
            stays.append(member)
    return found


def bloom(hashes: Sequence[tuple[int, int]], probes: int, bits: int) -> list[bool]:
    """Which were in the filter already."""
    held: set[int] = set()
    found = []
    for low, high in hashes:
        own = {(low + each * (high | 1)) % 2**64 % bits for each in range(probes)}
        found.append(own <= held)
        held |= own
    return found

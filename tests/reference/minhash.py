"""Slow, obvious twins of kernels/minhash.py, of the clusters it leads to, and of the curve it follows."""

from __future__ import annotations

from collections.abc import Sequence

_ODD, _OTHER_ODD = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
_MASK = 2**64 - 1


def shingles(words: Sequence[str], ngram: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + ngram]) for at in range(len(words) - ngram + 1)}


def jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def hash_word(word: str) -> int:
    raw = word.encode()
    state = len(raw) * _OTHER_ODD & _MASK
    pieces = [raw[at : at + 8] for at in range(0, len(raw), 8)]
    for piece in pieces[:-1]:
        state = (state ^ int.from_bytes(piece, "little")) * _ODD & _MASK
        state ^= state >> 32
    if pieces:
        state = (state ^ int.from_bytes(pieces[-1], "little")) * _ODD & _MASK
    return (state ^ state >> 32) * _OTHER_ODD & _MASK


def hash_shingle(shingle: Sequence[str]) -> int:
    state = 0
    for word in shingle:
        state = (state * _ODD + hash_word(word)) & _MASK
    return (state ^ state >> 32) * _OTHER_ODD & _MASK


def permutations(count: int) -> list[tuple[int, int]]:
    """(odd, salt) of each: the upper halves of splitmix64's numbers."""
    numbers = []
    for at in range(1, 2 * count + 1):
        state = at * _ODD & _MASK
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        state = (state ^ state >> 27) * 0x94D049BB133111EB & _MASK
        numbers.append(state >> 32)
    return [(numbers[2 * at] | 1, numbers[2 * at + 1]) for at in range(count)]


def signature(words: Sequence[str], ngram: int, buckets: int, hashes_per_bucket: int) -> list[int] | None:
    values = [hash_shingle(shingle) >> 32 for shingle in shingles(words, ngram)]
    if not values:
        return None
    constants = permutations(buckets * hashes_per_bucket)
    minima = [min((value ^ salt) * odd % 2**32 for value in values) for odd, salt in constants]
    signed = []
    for bucket in range(buckets):
        state = bucket
        for minimum in minima[bucket * hashes_per_bucket : (bucket + 1) * hashes_per_bucket]:
            state = (state ^ minimum) * _ODD & _MASK
            state ^= state >> 32
        signed.append(state * _OTHER_ODD & _MASK)
    return signed


def lowest_of_clusters(signatures: Sequence[list[int] | None]) -> dict[int, int]:
    """Index of each document that goes → the lowest of all that hang together with it by shared bucket hashes."""
    lowest = list(range(len(signatures)))
    changed = True
    while changed:
        changed = False
        for one, of_one in enumerate(signatures):
            for other, of_other in enumerate(signatures):
                if of_one is None or of_other is None or lowest[one] == lowest[other]:
                    continue
                if any(left == right for left, right in zip(of_one, of_other, strict=True)):
                    lowest[one] = lowest[other] = min(lowest[one], lowest[other])
                    changed = True
    return {at: low for at, low in enumerate(lowest) if at != low}

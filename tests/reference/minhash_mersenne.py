"""Slow, obvious twin of kernels/minhash_mersenne.py."""

from __future__ import annotations

import xxhash

PRIME = 2**61 - 1


def shingle_hashes(words: list[str], ngram: int) -> list[int]:
    runs = [" ".join(words[at : at + ngram]) for at in range(len(words) - ngram + 1)]
    return [xxhash.xxh64_intdigest(run) for run in runs]


def minima(hashes: list[int], constants: list[tuple[int, int]], mask: int) -> list[int]:
    return [
        min(((one * factor + addend) % 2**64 % PRIME & mask for one in hashes), default=2**64 - 1)
        for factor, addend in constants
    ]

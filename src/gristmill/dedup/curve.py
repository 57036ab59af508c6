"""The probability curve of MinHash: how likely two documents of some similarity are found, and the parameters that
put its rise where it is wanted."""

from __future__ import annotations

from functools import cache

MOST_HASHES = 128  # what a target similarity may spend
FOUND_AT_TARGET = 0.8


def chance(similarity: float, buckets: int, hashes_per_bucket: int) -> float:
    """Probability that two documents share the hash of at least one bucket: 1 - (1 - s**r)**b."""
    return 1.0 - (1.0 - similarity**hashes_per_bucket) ** buckets


def midpoint(buckets: int, hashes_per_bucket: int) -> float:
    """The similarity that is found half of the time."""
    return float((1.0 - 0.5 ** (1.0 / buckets)) ** (1.0 / hashes_per_bucket))


@cache
def parameters_for(similarity: float) -> tuple[int, int]:
    """(buckets, hashes per bucket) of at most MOST_HASHES hashes: of those that find FOUND_AT_TARGET of the pairs that
    are just so similar, the ones with the steepest curve, which find the least below."""
    hashes = max(
        hashes for hashes in range(1, MOST_HASHES + 1)
        if hashes == 1 or chance(similarity, MOST_HASHES // hashes, hashes) >= FOUND_AT_TARGET
    )  # fmt: skip
    buckets = next(
        buckets for buckets in range(1, MOST_HASHES // hashes + 1)
        if buckets == MOST_HASHES // hashes or chance(similarity, buckets, hashes) >= FOUND_AT_TARGET
    )  # fmt: skip
    return buckets, hashes


def curve(buckets: int, hashes_per_bucket: int) -> list[tuple[float, float]]:
    """The curve at the similarities that people ask about."""
    asked = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
    return [(similarity, chance(similarity, buckets, hashes_per_bucket)) for similarity in asked]

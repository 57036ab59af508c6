from __future__ import annotations

import pytest

from gristmill.dedup.curve import FOUND_AT_TARGET, MOST_HASHES, chance, curve, midpoint, parameters_for
from gristmill.dedup.minhash import MinHash


@pytest.mark.parametrize("similarity", [0.3, 0.5, 0.75, 0.8, 0.9, 0.99, 1.0])
def test_parameters_find_what_has_the_target_and_little_below(similarity: float) -> None:
    buckets, hashes = parameters_for(similarity)
    assert buckets * hashes <= MOST_HASHES
    assert chance(similarity, buckets, hashes) >= FOUND_AT_TARGET
    assert chance(similarity - 0.2, buckets, hashes) < 0.42


def test_published_points_of_the_curve() -> None:
    assert chance(0.8, 14, 8) == pytest.approx(0.924, abs=0.001)  # datatrove's own documentation
    assert chance(midpoint(14, 8), 14, 8) == pytest.approx(0.5)
    assert [round(found, 2) for _, found in curve(14, 8)] == sorted(round(found, 2) for _, found in curve(14, 8))


def test_a_similarity_chooses_the_shape() -> None:
    assert MinHash().shape() == (14, 8)
    assert MinHash(similarity=0.75).shape() == parameters_for(0.75)
    assert MinHash(buckets=20).shape() == (20, 8)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"ngram": 0}, "expected ngram from 1, found 0"),
        ({"similarity": 1.5}, "expected similarity above 0 and up to 1, found 1.5"),
        ({"similarity": 0.7, "buckets": 3}, "expected either `similarity`, or `buckets`"),
        ({"confirm": 0}, "expected confirm above 0"),
        ({"buckets": 1000, "hashes_per_bucket": 10}, "expected at most 4,096 hashes"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, float], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        MinHash(**parameters)  # type: ignore[arg-type]

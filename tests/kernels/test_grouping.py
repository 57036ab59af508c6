from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.kernels import bloom, confirm, equal, radix, unions
from reference import grouping as twin

hashes = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 255, 256, 2**63, 2**64 - 1]))


@given(st.lists(hashes, max_size=60))
def test_sorting_equals_its_twin(given_hashes: list[int]) -> None:
    numbers = np.arange(len(given_hashes), dtype=np.uint32)
    found = radix.sort_hashes(np.array(given_hashes, np.uint64), numbers.copy())
    expected = twin.sort_hashes(given_hashes, numbers.tolist())
    assert list(zip(*(array.tolist() for array in found), strict=True)) == expected


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=40), st.booleans(), st.integers(0, 3))
def test_pairs_equal_their_twin(halves: list[tuple[int, int]], both: bool, earlier: int) -> None:
    halves = sorted(halves, key=lambda item: item[0])
    positions = np.array([0] * min(earlier, len(halves)) + [*range(1, max(0, len(halves) - earlier) + 1)], np.int64)
    first, second = (np.array([half[at] for half in halves], np.uint64) for at in (0, 1))
    lowest, others = np.empty(len(halves), np.int64), np.empty(len(halves), np.int64)
    further = second if both else np.zeros(0, np.uint64)
    count = equal.pairs_of_equal(first, further, positions.copy(), lowest, others)
    expected = twin.pairs_of_equal(halves if both else [(low,) for low, _ in halves], positions.tolist())
    assert set(zip(lowest[:count].tolist(), others[:count].tolist(), strict=True)) == expected


@given(st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=40))
def test_clusters_equal_their_twin(pairs: list[tuple[int, int]]) -> None:
    parents = np.arange(30)
    ones, others = (np.array([pair[at] for pair in pairs], np.int64) for at in (0, 1))
    unions.unite(parents, ones, others)
    unions.flatten(parents)
    expected = twin.roots(30, pairs)
    assert parents.tolist() == expected
    sizes = np.zeros(30, np.uint32)
    unions.count_members(parents, sizes)
    assert sizes.tolist() == [expected.count(at) for at in range(30)]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3)), min_size=1, max_size=30))
def test_the_highest_of_a_cluster(members: list[tuple[int, int]]) -> None:
    """(root, rank) of each member; the positions before them are nobody's."""
    roots = np.array([*range(10), *(root for root, _ in members)], np.int64)
    ranks = np.array([-np.inf if rank == 0 else rank for _, rank in members], np.float64)
    best, best_rank = np.zeros(len(roots), np.int64), np.zeros(len(roots))
    unions.rank_members(roots, 10, ranks, best_rank, best)
    for root in range(1, 10):
        of_root = [(-ranks[at], 10 + at) for at in range(len(members)) if members[at][0] == root]
        assert best[root] == (min(of_root)[1] if of_root else 0)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sets(st.integers(0, 9), max_size=6)), min_size=1, max_size=20),
    st.sampled_from([0.2, 0.5, 0.75, 1.0]),
    st.randoms(use_true_random=False),
    st.integers(0, 5),
)
def test_confirming_equals_its_twin(
    members: list[tuple[int, set[int]]], least: float, rng: object, earlier: int
) -> None:
    order = list(range(len(members)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    clusters = [cluster for cluster, _ in members]
    roots = np.array([clusters.index(cluster) for cluster in clusters])
    offsets = np.cumsum([0, *(len(items) for _, items in members)])
    flat = np.array([item for _, items in members for item in sorted(items)], np.uint64)
    links = [np.full(len(members), -1) for _ in range(4)]
    confirm.confirm(np.array(order), earlier, roots, offsets, flat, least, *links)
    assert links[-1].tolist() == twin.confirm(order, earlier, clusters, [items for _, items in members], least)


@given(st.lists(st.tuples(hashes, hashes), max_size=30), st.integers(1, 20), st.integers(1, 4))
def test_a_filter_equals_its_twin(given_hashes: list[tuple[int, int]], probes: int, words: int) -> None:
    low, high = (np.array([half[at] for half in given_hashes], np.uint64) for at in (0, 1))
    seen = np.empty(len(given_hashes), np.bool_)
    bloom.see(low, high, probes, np.zeros(words, np.uint64), seen)
    assert seen.tolist() == twin.bloom(given_hashes, probes, 64 * words)


def test_a_filter_errs_as_often_as_it_says() -> None:
    from gristmill.dedup.bloom import Bloom

    unit = Bloom(capacity=20_000, false_positive_rate=0.01)
    low, high = np.random.default_rng(1).integers(0, 2**64, (2, 40_000), np.uint64)
    words = np.zeros(unit.filter_bits() // 64, np.uint64)
    assert not unit.seen(low[:1], high[:1], words).any()
    unit.seen(low[1:20_000], high[1:20_000], words)
    asked = unit.seen(low[20_000:30_000], high[20_000:30_000], words.copy()).mean()
    # The filter goes on filling while it is asked, so the truth lies between the rates before and after.
    assert unit.rate_at(20_000) * 0.8 < asked < unit.rate_at(30_000) * 1.2
    assert unit.rate_at(20_000) == pytest.approx(0.01, rel=0.05)
    assert unit.seen(low[:20_000], high[:20_000], words).all()

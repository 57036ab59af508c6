from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.kernels.bijection import derive_key, permute, unpermute
from reference import bijection as twin

keys = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize("size", [*range(70), 255, 256, 257, 1000, 4095, 65_537, 300_000])
def test_every_index_is_hit_once(size):
    images = permute(np.arange(size), size, 2026)
    assert np.array_equal(np.sort(images), np.arange(size))


@given(st.integers(1, 2**40), keys, st.data())
def test_agrees_with_its_twin_and_has_an_inverse(size, key, data):
    indices = [*data.draw(st.lists(st.integers(0, size - 1), max_size=20)), 0, size - 1]
    images = permute(indices, size, key)
    assert images.tolist() == [twin.permuted(index, size, key) for index in indices]
    assert unpermute(images, size, key).tolist() == indices


@given(keys, keys)
def test_derived_keys_agree_with_their_twin(key, number):
    assert derive_key(key, number) == twin.derive_key(key, number)


def test_the_answers_never_change():
    """Packed rows and loader states of older versions depend on them."""
    assert permute(np.arange(8), 8, 1).tolist() == [3, 2, 6, 0, 4, 1, 7, 5]
    assert permute([0, 1, 2**39], 2**40, 1).tolist() == [109089645350, 130164542851, 731174589045]
    assert derive_key(1, 2) == 583880340377267059


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_every_order_of_few_is_equally_likely(size):
    orders, each = math.factorial(size), 200
    counts = Counter(tuple(permute(np.arange(size), size, key)) for key in range(orders * each))
    assert len(counts) == orders
    assert _deviations(list(counts.values()), orders - 1) < 5


@pytest.mark.parametrize("size", [10, 33, 100])
def test_neighbours_part(size):
    """What a shuffle with too few rounds fails: the distance of two neighbours' images must take every value."""
    distances = np.zeros(size, np.int64)
    for key in range(2000):
        images = permute(np.arange(size), size, key)
        distances += np.bincount((images[1:] - images[:-1]) % size, minlength=size)
    assert distances[0] == 0
    assert _deviations(distances[1:], size - 2) < 5


def test_a_large_shuffle_looks_random():
    size = 1_000_003
    images = permute(np.arange(size), size, 7)
    other = permute(np.arange(size), size, 8)
    ascents = np.count_nonzero(images[1:] > images[:-1])
    assert abs(ascents - size / 2) < 5 * math.sqrt(size / 12)
    assert abs(np.corrcoef(images[1:], images[:-1])[0, 1]) < 5 / math.sqrt(size)
    assert abs(np.corrcoef(images, other)[0, 1]) < 5 / math.sqrt(size)
    assert np.count_nonzero(images == np.arange(size)) < 12


def _deviations(counts, degrees: int) -> float:
    """How many standard deviations chi-squared lies above what chance gives."""
    expected = np.mean(counts)
    return (float(np.sum((np.asarray(counts) - expected) ** 2) / expected) - degrees) / math.sqrt(2 * degrees)

"""The packing kernels against their twins, through the packers that own their answers' shape."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gristmill.kernels.packing import copy_segments
from gristmill.packing.packers import PACKERS
from reference import packing as twin

row_lengths = st.integers(1, 200)
documents = st.lists(st.integers(0, 450), max_size=60)


def rows_of(bins):
    segments = list(zip(bins.draw.tolist(), bins.token.tolist(), bins.length.tolist(), strict=True))
    cuts = bins.row_first.tolist()
    return [segments[a:b] for a, b in itertools.pairwise(cuts)], segments[cuts[-1] :]


@given(documents, row_lengths)
@example([], 5)
@example([0, 0], 5)
@example([5, 5], 5)
@example([4], 5)
def test_wrapped_agrees_with_its_twin(lengths, sequence_length):
    assert rows_of(PACKERS["wrapped"].plan(lengths, sequence_length)) == twin.wrapped(lengths, sequence_length)


@given(documents, row_lengths)
@example([], 5)
@example([0, 5, 0, 10, 3, 2, 2], 5)
@example([64, 128, 63, 65, 1, 127], 128)
@example([3, 4], 100)
def test_best_fit_agrees_with_its_twin(lengths, sequence_length):
    bins = PACKERS["best_fit"].plan(lengths, sequence_length)
    assert rows_of(bins) == (twin.best_fit(lengths, sequence_length), [])


@given(st.lists(st.integers(1, 9000), min_size=30, max_size=80), st.integers(4096, 8999))
def test_best_fit_agrees_where_rooms_are_far_apart(lengths, sequence_length):
    """Beyond 4,096 the bitmap has more than one word in its summary."""
    assert rows_of(PACKERS["best_fit"].plan(lengths, sequence_length))[0] == twin.best_fit(lengths, sequence_length)


@given(documents, row_lengths)
def test_best_fit_is_never_worse_than_next_fit(lengths, sequence_length):
    rows = PACKERS["best_fit"].plan(lengths, sequence_length).rows
    assert -(-sum(lengths) // sequence_length) <= rows <= len(twin.next_fit(lengths, sequence_length))


@given(documents, row_lengths)
@example([0, 5, 0, 11], 5)
def test_padded_agrees_with_its_twin(lengths, sequence_length):
    assert rows_of(PACKERS["padded"].plan(lengths, sequence_length)) == (twin.padded(lengths, sequence_length), [])


def test_rows_longer_than_everything_cost_nothing():
    assert rows_of(PACKERS["best_fit"].plan([3, 4], 2**31 - 1))[0] == [[(0, 0, 3), (1, 0, 4)]]


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@given(data=st.data())
def test_copying_agrees_with_slices(dtype, data):
    """Up to the first segment that the shard does not hold; nothing behind it is touched."""
    offsets = np.cumsum([0, *data.draw(st.lists(st.integers(0, 20), min_size=1, max_size=8))])
    ids = np.arange(offsets[-1] - data.draw(st.sampled_from([0, 0, 0, 1])), dtype=dtype) + 1
    first = data.draw(st.integers(0, 5))
    segments = data.draw(
        st.lists(st.tuples(st.integers(first - 1, first + len(offsets)), st.integers(0, 9), st.integers(1, 9)))
    )
    out, expected = np.zeros((2, 9 * len(segments) + 3), dtype)
    fitting = 0
    for number, (document, token, length) in enumerate(segments):
        local = document - first
        if not 0 <= local < len(offsets) - 1 or offsets[local + 1] > len(ids):
            break
        held = ids[offsets[local] : offsets[local + 1]][token : token + length]
        if len(held) < length:
            break
        expected[9 * number + 3 :][:length] = held
        fitting += 1
    columns = [np.array(column, np.int64) for column in zip(*segments, strict=True)] or [np.zeros(0, np.int64)] * 3
    destinations = 9 * np.arange(len(segments)) + 3
    assert copy_segments(ids, offsets, first, *columns, destinations, out) == fitting
    assert out.tolist() == expected.tolist()

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.engine.ledger import total
from gristmill.filters.histogram import SMALLEST, bins_of, histogram, quantile

values = st.lists(st.floats(width=32, allow_nan=True, allow_infinity=False), max_size=40)


@given(values, values)
def test_histograms_of_parts_add_up(one: list[float], other: list[float]) -> None:
    whole = histogram(np.array([*one, *other], np.float64))
    assert total([histogram(np.array(one)), histogram(np.array(other))]) == whole
    assert sum(whole.values()) == len(one) + len(other)


@given(st.floats(min_value=SMALLEST, max_value=1e30))
def test_a_bin_is_an_eighth_of_an_octave(value: float) -> None:
    for number in (value, -value):
        bins = bins_of(histogram(np.array([number])))
        assert bins.values.tolist() == [1]
        assert abs(bins.edge[0] - number) <= 0.125 * value * (1 + 1e-6)


def test_bins_ascend_side_by_side() -> None:
    numbers = np.array([-2.0, -SMALLEST, -1e-9, 0.0, 1e-9, SMALLEST, SMALLEST * 1.2, 1.0, 2.0, 3.0], np.float64)
    bins = bins_of(histogram(numbers))
    assert (np.diff(bins.edge) > 0).all()
    assert bins.values.tolist() == [1, 1, 3, 1, 1, 1, 1, 1]
    around_zero = bins.place[1:5].tolist()
    assert around_zero == [-1, 0, 1, 2]
    assert bins.place[6] - bins.place[5] == 8  # an octave


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.25, 1.0), (0.5, 2.0), (0.75, 4.0), (1.0, 8.0)])
def test_quantiles(share: float, expected: float) -> None:
    assert quantile(bins_of(histogram(np.array([8.0, 4.0, 2.0, 1.0]))), share) == expected


def test_no_values() -> None:
    assert histogram(np.array([], np.int64)) == {}
    assert math.isnan(quantile(bins_of({}), 0.5))
    assert math.isnan(quantile(bins_of(histogram(np.array([np.nan]))), 0.5))

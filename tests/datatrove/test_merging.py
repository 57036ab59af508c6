"""Sorted files side by side: all records, in order, equal keys together, whatever is read at once."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.datatrove import merging

KIND = np.dtype([("key", "<u8"), ("value", "<u4")])


def file_of(keys: list[int]) -> io.BytesIO:
    records = np.array([(key, number) for number, key in enumerate(sorted(keys))], KIND)
    return io.BytesIO(records.tobytes())


@given(st.lists(st.lists(st.integers(0, 9) | st.integers(0, 2**64 - 1), max_size=20), max_size=4), st.integers(1, 5))
def test_all_records_come_in_order(files: list[list[int]], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "_RECORDS_AT_ONCE", 1)
        patch.setattr(merging, "_LEAST_RECORDS", at_once)
        found = list(
            merging.stretches([file_of(keys) for keys in files], [KIND] * len(files), lambda part: part["key"])
        )
    for number, keys in enumerate(files):
        assert [key for parts in found for key in parts[number]["key"].tolist()] == sorted(keys)
    stretch = [{key for part in parts for key in part["key"].tolist()} for parts in found]
    assert all(max(one) < min(other) for one, other in pairwise(stretch))


def test_what_is_not_sorted_or_not_whole_is_an_error() -> None:
    backwards = io.BytesIO(np.array([(2, 0), (1, 0)], KIND).tobytes())
    with pytest.raises(ValueError, match="expected sorted signatures"):
        list(merging.stretches([backwards], [KIND], lambda part: part["key"]))
    with pytest.raises(ValueError, match="expected whole records of 12 bytes"):
        list(merging.stretches([io.BytesIO(b"x" * 13)], [KIND], lambda part: part["key"]))

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from gristmill.document import buffers
from gristmill.kernels import hashing
from reference import texts as twin


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=120), min_size=1, max_size=5))
@example(["x" * length for length in range(100)])
def test_hash_texts_equals_its_twin(values: list[str]) -> None:
    offsets, data = buffers(pa.array(values, pa.large_string()))
    low, high = np.empty(len(values), np.uint64), np.empty(len(values), np.uint64)
    hashing.hash_texts(offsets, data, low, high)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [twin.hash_text(value) for value in values]

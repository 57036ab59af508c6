from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prose_texts import LONG, column, in_a_slice, texts

from gristmill.kernels.long_lines import count_long_lines
from reference import long_lines as reference


@given(st.lists(texts, max_size=4), st.integers(0, 70))
@example(["", "\n", "\n\n", "é", "éé", "a\n", "\r\n", "\u2028"], 1)
@example(["", "\n"], 0)
def test_equals_its_twin(values: list[str], characters: int) -> None:
    expected = [reference.count_long_lines(value, characters) for value in values]
    assert count_long_lines(*column(values), characters).tolist() == expected
    assert count_long_lines(*in_a_slice(values), characters).tolist() == expected


@pytest.mark.parametrize("name", LONG)
def test_long_documents(name: str) -> None:
    expected = [reference.count_long_lines(LONG[name], 20)]
    assert count_long_lines(*column([LONG[name]]), 20).tolist() == expected

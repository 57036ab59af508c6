from __future__ import annotations

from c4_texts import texts
from hypothesis import given, settings
from hypothesis import strategies as st
from prose_texts import column

from gristmill.kernels.c4_line_counts import count_lines
from gristmill.kernels.c4_lines import NO_LIMIT, Rules
from gristmill.kernels.split_lines import split_lines
from reference import c4_lines as reference

flags = st.booleans()
rules = st.builds(Rules, st.sampled_from([0, 2, 10, 63, 64, 1000, NO_LIMIT]), st.integers(0, 4), *[flags] * 4)
ODD = ["x lorem ipsum {.\n{ a b.\na b c.", "{ a b.\nlorem ipsum.", "javascript { a.\nuse cookies lorem ipsum now."]


@settings(max_examples=300)
@given(st.lists(texts | st.sampled_from(ODD), max_size=4), rules, flags, flags)
def test_equals_its_twin(values: list[str], by: Rules, lorem: bool, curly: bool) -> None:
    offsets, data = column(values)
    expected = reference.count_lines([value.splitlines() for value in values], *by, lorem, curly)
    assert count_lines(split_lines(offsets, data), data, by, lorem, curly) == expected

from __future__ import annotations

import json

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gristmill.sources.metadata import number_values, string_values

objects = st.dictionaries(
    st.sampled_from(["url", "ur", "a\n"]), st.one_of(st.none(), st.integers(), st.text(st.characters(codec="utf-8")))
)


@given(st.lists(st.one_of(st.none(), objects), max_size=5), st.booleans())
def test_the_strings_behind_a_key(values: list[dict[str, object] | None], ascii_only: bool) -> None:
    written = [None if value is None else json.dumps(value, ensure_ascii=ascii_only) for value in values]
    expected = [value.get("url") if value else None for value in values]
    found = string_values(pa.array(written, pa.large_string()), "url")
    assert found.to_pylist() == [value if isinstance(value, str) else None for value in expected]


def test_the_numbers_behind_a_key() -> None:
    written = ['{"n": 2}', '{"n": "-0.5"}', '{"n": 1e3}', '{"n": true}', '{"n": "two"}', '{"n": [3]}', "{}", None]
    below_all = float("-inf")
    found = number_values(pa.array(written, pa.large_string()), "n")
    assert found.tolist() == [2.0, -0.5, 1000.0, *[below_all] * 5]

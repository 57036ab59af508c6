from __future__ import annotations

import json

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gristmill.sources.metadata import string_values

objects = st.dictionaries(
    st.sampled_from(["url", "ur", "a\n"]), st.one_of(st.none(), st.integers(), st.text(st.characters(codec="utf-8")))
)


@given(st.lists(st.one_of(st.none(), objects), max_size=5), st.booleans())
def test_the_strings_behind_a_key(values: list[dict[str, object] | None], ascii_only: bool) -> None:
    written = [None if value is None else json.dumps(value, ensure_ascii=ascii_only) for value in values]
    expected = [value.get("url") if value else None for value in values]
    found = string_values(pa.array(written, pa.large_string()), "url")
    assert found.to_pylist() == [value if isinstance(value, str) else None for value in expected]

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prose_texts import column, in_a_slice

from gristmill.document import Bytes, Offsets, strings
from gristmill.kernels.url_parts import authorities
from reference import url_parts as twin

PIECES = [
    "http:",
    "//",
    "/",
    ":",
    "a",
    "b.com",
    "+.-",
    "é",
    "日",
    "e\u0301",
    "😀",
    "א",
    "\0",
    "\r\n",
    "?",
    "#",
    "@",
    "\u2028",
]
urls: Any = st.lists(st.sampled_from(PIECES) | st.characters(exclude_categories=["Cs"]), max_size=9).map("".join)


def found(offsets: Offsets, data: Bytes) -> list[str]:
    new_offsets, out = np.empty(len(offsets), np.int64), np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    written = authorities(offsets, data, new_offsets, out)
    texts: list[str] = strings(new_offsets, out[:written]).to_pylist()
    return texts


@given(st.lists(urls, max_size=5))
@example(["", "/", "//", "///", "://a", "a://", "a://b?c", "a:b://c", "é://a", "a//b", "//a//b", "a://b://c#"])
def test_authorities_equal_their_twin(values: list[str]) -> None:
    expected = list(map(twin.authority, values))
    assert found(*column(values)) == expected
    assert found(*in_a_slice(values)) == expected


@pytest.mark.parametrize("url", ["a" * 1_000_000, "\n" * 1_000_000, "a" * 500_000 + "://b/" + "c" * 500_000])
def test_long_urls(url: str) -> None:
    assert found(*column([url])) == [twin.authority(url)]

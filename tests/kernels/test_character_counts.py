from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prose_texts import LONG, column, in_a_slice, rows
from word_texts import texts as any_texts

import gristmill.kernels
from gristmill.kernels.character_counts import count_characters_by_kind
from reference import character_counts as twin

_TABLE = Path(gristmill.kernels.__file__).parent / "data/character_classes.txt"
pytestmark = pytest.mark.skipif(
    f"# {unicodedata.unidata_version} " not in _TABLE.read_text("utf-8"),
    reason="the table is of another version of Unicode than this Python",
)


@given(st.lists(any_texts, max_size=4))
@example(["", "\0", "²١Ⅷ½", "ǅÀa\u0300", "_+。$", "\x1c\x85\u2028 ", "😀"])
def test_counts_equal_their_twin(values: list[str]) -> None:
    expected = [twin.count(value) for value in values]
    assert rows(count_characters_by_kind(*column(values))) == expected
    assert rows(count_characters_by_kind(*in_a_slice(values))) == expected


def test_every_character_alone() -> None:
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert rows(count_characters_by_kind(*column(every))) == list(map(twin.count, every))


@pytest.mark.parametrize("name", LONG)
def test_long_texts(name: str) -> None:
    assert rows(count_characters_by_kind(*column([LONG[name]]))) == [twin.count(LONG[name])]

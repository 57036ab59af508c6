from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.document import buffers, large_strings, strings
from gristmill.kernels import folding
from reference import folding as twin

# Characters that have been there since Unicode 3.2: a Python with a later table sees them alike.
OLD = st.characters(exclude_categories=("Cs", "Cn")).filter(lambda c: unicodedata.ucd_3_2_0.category(c) != "Cn")
NASTY = st.sampled_from(
    [
        *" \t\n\r\0\x1c\x85\u2028.,،'-_１1٣9aAÉéßİΣσς한글ﷺ😀־",
        "e\u0301",
        "\u0301",
        " \u0308 ",
        "\u200b",
        "ΑΣ'",
        "1.2",
        "3,٤",
    ]
)
texts = st.lists(st.lists(st.one_of(NASTY, OLD), max_size=12).map("".join), max_size=6)


def folded(given_texts: list[str], table: object) -> list[str]:
    column = large_strings(["before", *given_texts])[1:]  # offsets that do not begin at 0
    return strings(*folding.fold(*buffers(column), table)).to_pylist()  # type: ignore[arg-type,no-any-return]


@given(texts)
def test_simple_equals_its_twin(given_texts: list[str]) -> None:
    assert folded(given_texts, folding.SIMPLE) == [twin.simple(text) for text in given_texts]


@given(texts)
def test_plain_equals_its_twin(given_texts: list[str]) -> None:
    assert folded(given_texts, folding.PLAIN) == [twin.plain(text) for text in given_texts]


@given(texts)
def test_simple_is_what_datatrove_makes_of_it(given_texts: list[str]) -> None:
    text = pytest.importorskip("datatrove.utils.text")
    assert folded(given_texts, folding.SIMPLE) == [text.simplify_text(each) for each in given_texts]


def test_long_texts_and_those_that_grow() -> None:
    long = ["한" * 100_000, "Word " * 100_000, "1.5" * 50_000, "." * 100_000]
    assert folded(long, folding.SIMPLE) == [twin.simple(text) for text in long]


@pytest.mark.parametrize("table", [folding.SIMPLE, folding.PLAIN])
def test_no_character_grows_beyond_its_room(table: object) -> None:
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    characters = [f"a{chr(code)}b" for code in codes]
    for before, after in zip(characters, folded(characters, table), strict=True):
        assert len(after.encode()) - 2 <= 3 * (len(before.encode()) - 2)

"""Finding phrases: against a naive search in Python's own lower-cased, NFC-normalised text."""

from __future__ import annotations

import unicodedata
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gristmill.document import buffers
from gristmill.filters.phrases import Phrases, folded
from reference import phrases as twin

ANYTHING = st.characters(exclude_categories=["Cs"])
# Letters that melt with marks, marks that reorder, letters whose lower case is odd, and what must not matter.
PIECES = [
    *(
        "a",
        "A",
        "b",
        "k",
        "s",
        "i",
        "I",
        "o",
        "d",
        "l",
        "g",
        "n",
        " ",
        "\0",
        "\n",
        "\u2028",
        "😀",
        "👨\u200d👩",
        "日",
        "本",
    ),
    *(
        "đ",
        "Đ",
        "ấ",
        "Ấ",
        "â",
        "ơ",
        "ờ",
        "ḹ",
        "ḷ",
        "\u0301",
        "\u0302",
        "\u0300",
        "\u031b",
        "\u0323",
        "\u0304",
        "\u0307",
    ),
    *(
        "İ",
        "ı",
        "K",
        "Å",
        "Ω",
        "Σ",
        "σ",
        "ς",
        "ο",
        "ά",
        "ά",
        "ſ",
        "ß",
        "ẞ",
        "ﬁ",
        "ǅ",
        "\u0345",
        "\u0340",
        "\u037e",
        ";",
    ),
    *("\u1112", "\u1161", "\u11ab", "한", "가", "か", "\u3099", "が", "क", "\u093c", "\u0958", "ก", "\u0e38", "\u0e48"),
    *("\u05e9", "\u05c1", "\u05bc", "\ufb2c", "豈", "\uf900", "\u0bc6", "\u0bbe", "\u0bca", "\U0001d15e", "\U00010400"),
]
texts: Any = st.lists(st.sampled_from(PIECES) | ANYTHING, max_size=12).map("".join)


def agrees(phrases: list[str], values: list[str]) -> None:
    finder = Phrases(phrases)
    offsets, data = buffers(pa.array(["x", *values], pa.large_string()).slice(1))
    found = finder.find(offsets, data)
    ours = [
        {"hits": hits, "phrases": different, "first": finder.names[first] if first >= 0 else None}
        for hits, different, first in zip(*map(list, found), strict=True)
    ]
    assert ours == [twin.find(twin.fold(value), finder.names) for value in values]


@given(st.lists(texts.filter(bool), min_size=1, max_size=5), st.lists(texts, max_size=4))
@example(["a", "aa", "aaa"], ["aaaa", "", "A"])
@example(["abcd", "bc", "c"], ["abcd", "bcd", "xabc"])
@example(["ḹ"], ["l\u0323\u0304", "ḷ\u0304", "L\u0304\u0323"])
@example(["l"], ["l\u0323\u0304", "l\u0304", "l"])
@example(["οδος", "οδοσ"], ["ΟΔΟΣ", "ΟΔΟΣΑ", "οδοσ"])
@example(["i"], ["İ", "I", "ı", "i\u0307"])
@example(["한", "하"], ["\u1112\u1161\u11ab", "하\u11ab", "한"])
@example(["\u1112"], ["\u1112\u1161\u11ab\u1112"])
@example(["\u1161"], ["\u1112\u1161", "a\u1161"])
@example(["\u11ab"], ["하\u11ab", "a\u11ab"])
@example(["\u0e38\u0e48", "\u0e48"], ["ก\u0e48\u0e38", "ก\u0e38\u0e48"])
@example(["k", "å", "ω", ";"], ["K", "Å", "Ω", "\u037e"])
@example(["\u0301"], ["\u0341", "b\u0301", "a\u0301"])
def test_phrases_equal_their_twin(phrases: list[str], values: list[str]) -> None:
    agrees([phrase for phrase in phrases if twin.fold(phrase)] or ["a"], values)


@given(st.lists(texts, max_size=3), st.data())
def test_phrases_cut_from_texts_are_found(values: list[str], data: Any) -> None:
    whole = "".join(values) or "a"
    start = data.draw(st.integers(0, len(whole) - 1))
    stop = data.draw(st.integers(start + 1, len(whole)))
    agrees([whole[start:stop]], [whole, whole.upper(), unicodedata.normalize("NFD", whole)])


@pytest.mark.parametrize(
    "long", ["x" * 1_000_000, "\n" * 1_000_000, "mua ngay" * 100_000, "ấ" * 300_000, "a\u0301" * 300_000]
)
def test_long_texts(long: str) -> None:
    finder = Phrases(["mua ngay", "á", "ấ"])
    found = finder.find(*buffers(pa.array([long], pa.large_string())))
    assert found.hits[0] == sum(folded(long).count(phrase) for phrase in finder.names)


def test_every_character_alone_is_found_as_python_folds_it() -> None:
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    alphabet = "abcđấíkσςω한が;\u0301日豈"
    finder = Phrases(list(alphabet))
    found = finder.find(*buffers(pa.array(every, pa.large_string())))
    wrong = [
        c
        for c, hits in zip(every, found.hits.tolist(), strict=True)
        if hits != sum(map(twin.fold(c).count, finder.names))
    ]
    assert wrong == []

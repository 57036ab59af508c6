from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prose_texts import LONG, column, in_a_slice
from word_texts import texts as any_texts

from gristmill.kernels.listed_words import find_anywhere, find_apart, word_tree
from reference import listed_words as reference

WORDS = ["a", "ab", "a b", "b-", "-", "é", "e\u0301", "日本", "\0", "😀", "٣", "ab ab", "A", "a_", "no\n", ""]
lists = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=6)
texts = st.one_of(st.lists(st.sampled_from([*WORDS, " ", "\n", ".", "x"]), max_size=12).map("".join), any_texts)


@given(st.lists(texts, max_size=4), lists)
@example(["", "a", "ab", "b a", "a.", "xa", "a\n", "éa", "a日"], ["a"])
@example(["x- y", "-", "x-y"], ["-"])
@example(["abab", "aab", "ab ab"], ["ab", "aab"])
def test_equal_their_twins(values: list[str], words: list[str]) -> None:
    tree = word_tree(words)
    apart = [reference.has_word_apart(value, words) for value in values]
    anywhere = [reference.has_word_anywhere(value, words) for value in values]
    for offsets, data in (column(values), in_a_slice(values)):
        assert find_apart(offsets, data, tree).tolist() == apart
        assert find_anywhere(offsets, data, tree).tolist() == anywhere


@pytest.mark.parametrize("name", LONG)
def test_long_documents(name: str) -> None:
    offsets, data = column([LONG[name], LONG[name] + " rare"])
    for find in (find_apart, find_anywhere):
        assert find(offsets, data, word_tree(["rare", "x" * 40 + "y", "\n" * 40 + "y"])).tolist() == [False, True]

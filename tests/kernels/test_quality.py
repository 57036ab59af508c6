from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prose_texts import LONG, SPLITTERS, WORDS, column, in_a_slice, rows, texts, words_of

from gristmill.document import Bytes, Offsets
from gristmill.kernels.quality import measure_quality, stop_words
from reference.quality import quality

splitters = st.sampled_from(sorted(SPLITTERS))
lists = st.lists(st.sampled_from([*WORDS, "The", "e", "wordwordwo", "x" * 62, ""]), max_size=12)


def check(offsets: Offsets, data: Bytes, values: list[str], splitter: str, stops: list[str]) -> None:
    words = SPLITTERS[splitter](offsets, data)
    expected = [quality(text, of_text, stops) for text, of_text in zip(values, words_of(words), strict=True)]
    assert rows(measure_quality(offsets, data, words, stop_words(stops))) == expected


@settings(max_examples=300)
@given(st.lists(texts, max_size=4), splitters, lists)
@example(
    ["", "a", "# ...… ....", "- a\n•b\n \u2028- c ... \r\nd…\x85", "the the The", "é", "١"], "spacy-en", ["the", "é"]
)
def test_equals_its_twin(values: list[str], splitter: str, stops: list[str]) -> None:
    check(*column(values), values, splitter, stops)
    check(*in_a_slice(values), values, splitter, stops)


@pytest.mark.parametrize("name", LONG)
def test_long_documents(name: str) -> None:
    values = [LONG[name], "and a short one"]
    check(*column(values), values, "spacy-en", ["the", "word", "and"])


def test_each_document_has_its_own_stop_words() -> None:
    offsets, data = column(["the", "the the", "to the", ""])
    words = SPLITTERS["spacy-en"](offsets, data)
    table = stop_words(["the", "to"])
    for _ in range(2):  # the table keeps no memory of the batch before
        assert measure_quality(offsets, data, words, table).stop_words.tolist() == [1, 1, 2, 0]

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prose_texts import LONG, column, in_a_slice
from prose_texts import texts as prose
from word_texts import ODDITIES, PUNCTUATION, SPACES
from word_texts import texts as any_texts

from gristmill.kernels.sentences import split_sentences
from gristmill.kernels.words import split_words
from reference.sentences import split_into_sentences

MARKS = [".", ".", "?", "!", "。", "؟", "۔", "…", "...", "‼", "𑁇", '"', "”", ")", "a", "B", "Dr.", "U.S.", "3"]
dense = st.lists(st.sampled_from([*MARKS, *MARKS, *SPACES, *SPACES, *PUNCTUATION, *ODDITIES]), max_size=25).map("".join)
texts = st.one_of(dense, any_texts, prose)


def sentences_of(values: list[str], sliced: bool = False) -> list[list[str]]:
    offsets, data = in_a_slice(values) if sliced else column(values)
    first, start, stop = split_sentences(offsets, data, split_words(offsets, data))
    found = [data[a:b].tobytes().decode() for a, b in zip(start, stop, strict=True)]
    return [found[a:b] for a, b in pairwise(first)]


@pytest.mark.parametrize(
    ("text", "sentences"),  # as datatrove 0.10.1 has them
    [
        ("", [""]),
        (" ", [" "]),
        ("\n\n", ["\n\n"]),
        ("Hello. ", ["Hello. "]),
        ("Hello.\n", ["Hello.", "\n"]),
        ("Hello.  X", ["Hello.", "  X"]),
        (" . a", [" .", " a"]),
        ("Dr. Who left. He is gone.", ["Dr. Who left.", " He is gone."]),
        ('He said "Go." She went...', ['He said "Go."', " She went..."]),
        ("What?! No. ) Yes", ["What?!", " No. )", " Yes"]),
        ("one . \n) two", ["one .", " \n) two"]),
        ("はい。いいえ。", ["はい。いいえ。"]),
        ("はい 。いいえ", ["はい 。", "いいえ"]),
        ("yes!\u2028no", ["yes!", "\u2028no"]),
    ],
)
def test_parts_as_the_judge(text: str, sentences: list[str]) -> None:
    assert sentences_of([text]) == [sentences]
    assert split_into_sentences(text) == sentences


@settings(max_examples=300)
@given(st.lists(texts, max_size=4))
@example(["", "a", ".", "..", ". .", ".\n.", "a.\n", " ", "\n", ".\u00a0a", '."', '. " a'])
def test_equals_its_twin(values: list[str]) -> None:
    assert sentences_of(values) == [split_into_sentences(value) for value in values]


@given(st.lists(texts, min_size=1, max_size=4))
def test_sentences_are_the_text(values: list[str]) -> None:
    assert ["".join(sentences) for sentences in sentences_of(values)] == values


@given(st.lists(texts, min_size=1, max_size=4))
def test_a_slice_of_a_batch_gives_the_same(values: list[str]) -> None:
    assert sentences_of(values, sliced=True) == sentences_of(values)


@pytest.mark.parametrize("name", LONG)
def test_long_documents_take_linear_time(name: str) -> None:
    assert "".join(sentences_of([LONG[name]])[0]) == LONG[name]


def test_as_many_as_there_are_marks() -> None:
    assert [len(sentences) for sentences in sentences_of(["No ! " * 200_000, "! \n" * 200_000])] == [200_000, 200_001]


def test_no_documents() -> None:
    assert sentences_of([]) == []

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prose_texts import LONG, SPLITTERS, column, in_a_slice, texts, words_of

from gristmill.document import Bytes, Offsets
from gristmill.kernels.ngrams import Room, room_for
from gristmill.kernels.repetition import measure_repetition
from gristmill.kernels.words import Words
from reference.repetition import repetition

TOP, DUPLICATE = [2, 3, 4], [5, 6, 7, 8, 9, 10]
splitters = st.sampled_from(sorted(SPLITTERS))


def measured(offsets: Offsets, data: Bytes, words: Words, top: list[int], duplicate: list[int]) -> list[list[float]]:
    shares = measure_repetition(offsets, data, words, top, duplicate)
    whole = [shares.paragraphs, shares.paragraph_characters, shares.lines, shares.line_characters]
    return np.array([*whole, *shares.top, *shares.duplicate]).T.tolist()


def expected(values: list[str], words: Words, top: list[int], duplicate: list[int]) -> list[list[float]]:
    split = zip(values, words_of(words), strict=True)
    return [repetition(text, of_text, top, duplicate) for text, of_text in split]


@settings(max_examples=300)
@given(st.lists(texts, max_size=4), splitters)
@example(["", "a", "\n", "\n\n", " \n\n ", "é", "a\n\na", "a\na\n", "\na\n\n\na", "a\n\n \n\na"], "spacy-en")
def test_equals_its_twin(values: list[str], splitter: str) -> None:
    offsets, data = column(values)
    words = SPLITTERS[splitter](offsets, data)
    assert measured(offsets, data, words, TOP, DUPLICATE) == expected(values, words, TOP, DUPLICATE)


@pytest.mark.parametrize("splitter", sorted(SPLITTERS))
def test_positions_beyond_two_gigabytes_say_the_same(splitter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = ["one two three one two three\none two three\n\none two three", *LONG.values()]
    offsets, data = column(values)
    words = SPLITTERS[splitter](offsets, data)
    narrow = measured(offsets, data, words, TOP, DUPLICATE)
    rooms = []

    def wide_room(text_bytes: int, items: int, last: int) -> Room:
        rooms.append(room_for(text_bytes, items, last + 2**31))
        return rooms[-1]

    monkeypatch.setattr("gristmill.kernels.repetition.room_for", wide_room)
    assert measured(offsets, data, words, TOP, DUPLICATE) == narrow
    assert [room.at.dtype for room in rooms] == [np.int64]


lengths = st.lists(st.integers(1, 12), max_size=4, unique=True)


@settings(max_examples=300)
@given(st.lists(st.sampled_from(["a", "b", "ab", "é", "x" * 40]), max_size=60).map(" ".join), lengths, lengths)
def test_any_ngrams_in_any_order(text: str, top: list[int], duplicate: list[int]) -> None:
    offsets, data = column([text])
    words = SPLITTERS["whitespace"](offsets, data)
    assert measured(offsets, data, words, top, duplicate) == expected([text], words, top, duplicate)


@given(st.lists(texts, min_size=1, max_size=4), splitters)
def test_a_slice_of_a_batch_gives_the_same(values: list[str], splitter: str) -> None:
    alone, sliced = column(values), in_a_slice(values)
    assert sliced[0][0] > 0
    of_slice = measured(*sliced, SPLITTERS[splitter](*sliced), TOP, DUPLICATE)
    assert of_slice == measured(*alone, SPLITTERS[splitter](*alone), TOP, DUPLICATE)


@given(st.lists(texts, min_size=1, max_size=4), splitters)
def test_a_document_alone_gives_the_same(values: list[str], splitter: str) -> None:
    together = column(values)
    apart = [
        measured(*one, SPLITTERS[splitter](*one), TOP, DUPLICATE)[0] for one in ([column([value]) for value in values])
    ]
    assert measured(*together, SPLITTERS[splitter](*together), TOP, DUPLICATE) == apart


def copied(words: list[list[str]]) -> Words:
    """Words that are no part of the texts, as other tokenizers give them; they may hold blanks."""
    flat = [word for of_text in words for word in of_text]
    bounds, data = column(flat)
    return Words(np.cumsum([0, *map(len, words)], dtype=np.int64), bounds[:-1], bounds[1:], data)


other_words = st.lists(st.sampled_from(["a", "b", "a b", "b a", "a b a", "é", "ab", "日本 語"]), max_size=40)


@settings(max_examples=300)
@given(st.lists(other_words, min_size=1, max_size=3))
@example([["a b", "a", "b a", "b", "a b a b"]])
def test_words_that_are_no_part_of_the_texts(values: list[list[str]]) -> None:
    words = copied(values)
    of_texts = ["x" * max(1, len(" ".join(value))) for value in values]
    offsets, data = column(of_texts)
    assert measured(offsets, data, words, [1, 2, 3], [1, 2, 5]) == expected(of_texts, words, [1, 2, 3], [1, 2, 5])


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("splitter", SPLITTERS)
def test_long_documents(name: str, splitter: str) -> None:
    """The sizes are such that anything but linear time takes minutes."""
    offsets, data = column([LONG[name], "and a short one"])
    words = SPLITTERS[splitter](offsets, data)
    assert measured(offsets, data, words, [2], [5]) == expected([LONG[name], "and a short one"], words, [2], [5])


@pytest.mark.parametrize("times", [1, 2, 254, 255, 256, 257, 300, 511, 1000])
def test_counts_beyond_what_the_sketch_holds(times: int) -> None:
    text = "p q r s " + "a b " * times + "c d " * times + "x " + "c d " * (times // 2)
    offsets, data = column([text])
    words = SPLITTERS["whitespace"](offsets, data)
    assert measured(offsets, data, words, TOP, DUPLICATE) == expected([text], words, TOP, DUPLICATE)


def test_no_documents() -> None:
    offsets, data = column([])
    assert measured(offsets, data, SPLITTERS["spacy-en"](offsets, data), TOP, DUPLICATE) == []

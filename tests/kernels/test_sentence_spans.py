from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prose_texts import texts as any_texts

from gristmill.document import buffers, large_strings
from gristmill.kernels.sentence_spans import (
    Pieces,
    SpanCuts,
    hash_spans,
    without_lines,
    without_sentences,
)
from gristmill.kernels.split_lines import split_lines
from reference import cuts as cut_twin
from reference import sentence_spans as twin

folded: Any = st.text(st.sampled_from("ab é"), max_size=4).map(str.strip)
sentences: Any = st.lists(st.text(st.sampled_from("a. \n\u3000é"), min_size=1, max_size=4), min_size=1, max_size=6)


def pieces_of(documents: list[list[str]]) -> tuple[Any, Pieces]:
    """The column of the joined documents, behind another text, and the pieces in it."""
    offsets, data = buffers(large_strings(["before", *map("".join, documents)]).slice(1))
    lengths = [len(piece.encode()) for document in documents for piece in document]
    bounds = offsets[0] + np.cumsum([0, *lengths])
    first = np.cumsum([0, *map(len, documents)])
    return (offsets, data), Pieces(first, bounds[:-1], bounds[1:])


def left(documents: list[str], cuts: SpanCuts) -> list[str]:
    spans: list[list[tuple[int, int, bool]]] = [[] for _ in documents]
    for document, *span in zip(*(column.tolist() for column in cuts), strict=True):
        spans[document].append(tuple(span))
    return [cut_twin.without(text.encode(), of_text).decode() for text, of_text in zip(documents, spans, strict=True)]


@given(st.lists(st.lists(folded, max_size=6), max_size=4), st.integers(1, 4))
@example([["", "", "", "a", ""]], 3)
def test_hashes_equal_their_twin(documents: list[list[str]], n: int) -> None:
    flat = [piece for document in documents for piece in document]
    between = [text for piece in flat for text in (piece, "between")]
    folded_offsets, folded_data = buffers(large_strings([*between, ""]))
    first = np.cumsum([0, *map(len, documents)])
    pieces = Pieces(first, np.arange(len(flat)), np.arange(len(flat)))
    low, high, start = hash_spans(pieces, np.diff(first), folded_offsets, folded_data, n)
    found = list(zip(start.tolist(), zip(low.tolist(), high.tolist(), strict=True), strict=True))
    expected = [
        (int(first[number]) + at, hashes)
        for number, document in enumerate(documents)
        for at, hashes in twin.span_hashes(document, n)
    ]
    assert found == expected


@settings(max_examples=300)
@given(st.lists(st.tuples(sentences, st.lists(st.booleans(), min_size=6, max_size=6)), min_size=1, max_size=4))
@example([([" ", "a "], [True, False] * 3), (["é. ", "\u3000 "], [False] * 6)])
def test_sentences_left_equal_their_twin(drawn: list[tuple[list[str], list[bool]]]) -> None:
    documents = [document for document, _ in drawn]
    dropped = [gone[: len(document)] for document, gone in drawn]
    # spaCy's last sentence ends before one blank behind a word; where the last "sentence" is that blank alone, it is
    # not one of spaCy's
    documents = [[*rest, last + "." if last == " " else last] for *rest, last in documents]
    column, pieces = pieces_of(documents)
    cuts = without_sentences(*column, pieces, np.array([gone for of_text in dropped for gone in of_text], np.bool_))
    expected = [twin.sentences_left(*both) for both in zip(documents, dropped, strict=True)]
    assert left(["".join(document) for document in documents], cuts) == expected


@settings(max_examples=300)
@given(st.lists(st.tuples(any_texts, st.randoms(use_true_random=False)), min_size=1, max_size=4))
def test_lines_left_equal_their_twin(drawn: list[tuple[str, Any]]) -> None:
    texts = [text for text, _ in drawn]
    dropped = [[random.random() < 0.5 for _ in text.splitlines()] for text, random in drawn]
    offsets, data = buffers(large_strings(["before", *texts]).slice(1))
    lines = Pieces(*split_lines(offsets, data))
    told = [data[start:stop].tobytes().decode() for start, stop in zip(lines.start, lines.stop, strict=True)]
    assert told == [line for text in texts for line in text.splitlines()]
    cuts = without_lines(offsets, data, lines, np.array([gone for of_text in dropped for gone in of_text], np.bool_))
    assert left(texts, cuts) == [twin.lines_left(*both) for both in zip(texts, dropped, strict=True)]

"""Our cuts against datatrove's own three steps, run on the same texts."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chunked_texts import in_chunks
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gristmill.dedup.cutting import cut_in_memory
from gristmill.dedup.sentences import Sentences

SENTENCES = ["Sign up now.", "SIGN up NOW !", "It is free!", "Écoute 12,5 fois.", "ecoute 3.1 fois?", "A", "日本語。"]
SENTENCES += ["(...)", "\u2026"]
ENDS = [" ", " ", " ", "\n", "\r\n", "  ", "\n\n", "", "\u2028", "\x0b", "\x85", "\t"]
pieces: Any = st.builds("{}{}".format, st.sampled_from(SENTENCES), st.sampled_from(ENDS))
documents: Any = st.lists(
    st.one_of(
        st.lists(pieces, max_size=9).map("".join),
        st.lists(st.sampled_from(SENTENCES), max_size=9).map(" ".join),
        st.sampled_from(["", " ", "Sign up now. It is free! A. "]),
    ),
    max_size=6,
)
configurations: Any = st.builds(
    Sentences,
    n_sentences=st.integers(1, 4),
    split_sentences=st.booleans(),
    min_doc_words=st.sampled_from([0, 0, 3, 9]),
    min_num_sentences=st.sampled_from([0, 0, 2]),
    min_words_to_remove_span=st.sampled_from([0, 0, 3, 4]),
)
_numbers = itertools.count()


def left(unit: Sentences, chunks: list[list[list[str]]]) -> list[tuple[int, str]]:
    """Number and text of each document that stays."""
    batches = [batch for chunk in cut_in_memory(unit, chunks) for batch in chunk]
    both = [pair for batch in batches for pair in zip(batch.too_short, batch.texts.to_pylist(), strict=True)]
    return [(number, text) for number, (gone, text) in enumerate(both) if not gone and text]


def datatrove_left(folder: Path, unit: Sentences, texts: list[str]) -> list[tuple[int, str]]:
    from datatrove.data import Document
    from datatrove.pipeline.dedup import SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig

    given = dataclasses.asdict(unit)
    given.pop("index")
    config = SentDedupConfig(**given)
    folder = folder / str(next(_numbers))

    def read() -> list[Any]:
        return [Document(text, str(number)) for number, text in enumerate(texts)]

    SentenceDedupSignature(str(folder / "signatures"), 1, config).run(iter(read()), 0, 1)
    SentenceFindDedups(str(folder / "signatures"), str(folder / "found"), config=config).run(None, 0, 1)
    kept = SentenceDedupFilter(str(folder / "found"), config).run(iter(read()), 0, 1)
    return [(int(document.id), document.text) for document in kept]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, configurations, st.integers(1, 3), st.integers(1, 3))
def test_leaves_what_datatrove_leaves(
    tmp_path: Path, texts: list[str], unit: Sentences, chunk: int, batch: int
) -> None:
    assert left(unit, in_chunks(texts, chunk, batch)) == datatrove_left(tmp_path, unit, texts)


def test_leaves_what_datatrove_leaves_of_real_texts(tmp_path: Path, corpora: Path) -> None:
    texts = pq.read_table(corpora / "english-prose.parquet", columns=["text"])["text"].slice(0, 300).to_pylist()
    halves = [
        text[len(text) // 2 :] + " " + other[: len(other) // 3] for text, other in zip(texts, texts[7:], strict=False)
    ]
    unit = Sentences(min_doc_words=200, min_words_to_remove_span=5)
    found = left(unit, in_chunks(texts[:200] + halves, 3, 20))
    assert found == datatrove_left(tmp_path, unit, texts[:200] + halves)
    assert len(found) < len(texts[:200] + halves)


def test_the_first_occurrence_stays_whatever_chunk_it_is_in() -> None:
    span = "Sign up now. It is free. Unsubscribe anytime."
    unit = Sentences(min_doc_words=0, min_num_sentences=0)
    assert left(unit, [[[f"One. {span} Two."], ["Other."]], [[f"Three. {span.upper()} Four."]]]) == [
        (0, f"One. {span} Two."),
        (1, "Other."),
        (2, "Three. Four."),
    ]


@pytest.mark.parametrize(("bound", "gone"), [(3, False), (4, True)])
def test_documents_with_too_few_words_left_go(bound: int, gone: bool) -> None:
    unit = Sentences(n_sentences=1, min_doc_words=bound, min_num_sentences=0)
    assert left(unit, [[["Sign up now.", "Sign up now. Yes, indeed"]]]) == [
        (0, "Sign up now."),
        *([] if gone else [(1, "Yes, indeed")]),
    ]


@pytest.mark.parametrize(("bound", "gone"), [(1, False), (2, True)])
def test_documents_with_too_few_sentences_left_go(bound: int, gone: bool) -> None:
    unit = Sentences(n_sentences=1, min_doc_words=0, min_num_sentences=bound)
    assert [number for number, _ in left(unit, [[["Sign up now.", "Sign up now. Yes, indeed"]]])] == [0, 1][: 2 - gone]


def test_lines_of_any_end_are_joined_by_newlines() -> None:
    unit = Sentences(1, split_sentences=False, min_doc_words=0, min_num_sentences=0)
    assert left(unit, [[["b", "a\r\nb\u2028c\x0bd\n"]]])[1] == (1, "a\nc\nd")


@pytest.mark.parametrize("parameters", [{"n_sentences": 0}, {"min_doc_words": -1}, {"min_words_to_remove_span": -2}])
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^expected .*, found "):
        Sentences(**parameters)

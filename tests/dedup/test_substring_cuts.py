from __future__ import annotations

from typing import Any

import pytest
from chunked_texts import in_chunks
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.dedup import occurrences
from gristmill.dedup.cutting import NONE, cut_in_memory, found_in_chunk
from gristmill.dedup.substrings import Substrings
from gristmill.document import large_strings
from reference import substrings as twin

ALPHABET = ["a", "b", " ", "\n", "é", "日", "😀", "\0", "\u2028"]
pieces: Any = st.one_of(
    st.sampled_from(["the quick brown fox ", "aaaaaaaaaaaaaaaaaaaaaaaa", "ababababab", "日本語日本語", "x", "\r\n"]),
    st.text(st.sampled_from(ALPHABET), max_size=12),
)
documents: Any = st.lists(st.lists(pieces, max_size=6).map("".join), max_size=6)


def left(unit: Substrings, chunks: list[list[list[str]]], partition_rows: int = 1 << 21) -> list[str]:
    cut = cut_in_memory(unit, chunks, partition_rows)
    return [text for chunk in cut for batch in chunk for text in batch.texts.to_pylist()]


@settings(max_examples=300)
@given(documents, st.integers(2, 24), st.sampled_from(["characters", "words"]), st.integers(1, 3), st.integers(1, 3))
@example(["ab" * 40, "ba" * 40, "a" * 50], 8, "characters", 1, 1)
@example(["", "日" * 20, "本日" * 9], 7, "words", 1, 1)
def test_equals_its_twin(texts: list[str], window_bytes: int, bounds: Any, chunk: int, batch: int) -> None:
    unit = Substrings(window_bytes, bounds, 0)
    assert left(unit, in_chunks(texts, chunk, batch)) == twin.cut(texts, window_bytes, bounds == "words")


@given(documents, st.integers(2, 12), st.integers(1, 40))
def test_partitions_and_runs_do_not_matter(texts: list[str], window_bytes: int, rows: int) -> None:
    unit = Substrings(window_bytes, "characters", 0)
    chunks = in_chunks(texts, 2, 1)
    whole = left(unit, chunks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(occurrences, "SAMPLED_ROWS", 1)
        patch.setattr(occurrences.runs, "__defaults__", (rows,))
        assert left(unit, chunks, rows) == whole


@pytest.mark.parametrize("text", ["a" * 1_000_000, "ab" * 500_000, "0123456789" * 100_000])
def test_a_long_text_with_a_period_costs_little(text: str) -> None:
    unit = Substrings(200, "characters", 0)
    [run] = found_in_chunk(unit, 0, [large_strings([text])], NONE)
    assert len(run.things.low) < 300 and len(run.repeated) < 300
    period = len(set(text))
    assert left(unit, [[[text]]]) == [text[:period]]


def test_too_short_documents_go() -> None:
    repeated = "one two three four five six seven "
    [[batch]] = cut_in_memory(Substrings(20, "words", 3), [[[repeated, repeated + "a b c", repeated + "a b", "a"]]])
    assert batch.too_short.tolist() == [False, False, True, False]
    assert batch.cuts.row.tolist() == [1]


@pytest.mark.parametrize(
    "parameters", [{"min_bytes": 1}, {"min_bytes": 30_001}, {"bounds": "lines"}, {"min_doc_words": -1}]
)
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^expected .*, found "):
        Substrings(**parameters)

"""The sentence splitter against datatrove itself, where it is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from test_sentences import sentences_of, texts

judge = pytest.importorskip("datatrove.utils.text", reason="datatrove, the judge, is not installed")
SAMPLE = 12  # documents of a corpus


@settings(max_examples=700)
@given(texts)
def test_parts_as_datatrove(text: str) -> None:
    assert sentences_of([text])[0] == judge.split_into_sentences(text)


def test_parts_corpora_as_datatrove(corpora: Path) -> None:
    for file in sorted(corpora.glob("*.jsonl.zst")):
        with zstandard.open(file, "rt", encoding="utf-8") as lines:
            values = [json.loads(line)["text"][:5_000] for _, line in zip(range(SAMPLE), lines, strict=False)]
        assert sentences_of(values) == [judge.split_into_sentences(value) for value in values], file.name
    values = pq.ParquetFile(corpora / "english-prose.parquet").read_row_group(0)["text"].slice(0, SAMPLE).to_pylist()
    assert sentences_of(values) == [judge.split_into_sentences(value) for value in values]

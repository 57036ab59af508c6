"""The rows of the demo corpus, read with nothing but the standard library and Arrow."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from gristmill.demo import DemoCorpus


@dataclass(frozen=True)
class Written:
    """A corpus, and its rows as a plain reader finds them: id -> text, bad bytes as surrogates, or None."""

    corpus: DemoCorpus
    lines: dict[str, list[bytes]]  # by source
    texts: dict[str, Any]  # by id, in the order of the corpus

    @property
    def plain(self) -> dict[str, str]:
        """The texts of the rows that were not planted."""
        planted = {row for rows in self.corpus.planted.values() for row in rows}
        return {row: text for row, text in self.texts.items() if row not in planted}


def read_lines(path: Path) -> list[bytes]:
    """The lines of a JSONL file, or the rows of a Parquet file as such lines."""
    if path.suffix == ".parquet":
        return [json.dumps(row, ensure_ascii=False).encode() for row in pq.read_table(path).to_pylist()]
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return content.removesuffix(b"\n").split(b"\n")


def cleaned(text: str) -> str:
    """What cleaning makes of a text: no broken bytes, no lone surrogates, no NUL, no white space around it."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "ignore").replace("\0", "").strip()


def _rows(source: str, lines: list[bytes]) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines):
        try:
            text = json.loads(line.decode("utf-8", "surrogateescape")).get("text")
        except json.JSONDecodeError:
            text = None
        if isinstance(text, str):
            text = "".join(letter for letter in text if not "\ud800" <= letter < "\udc80")
        yield f"{source}-{number:05d}", text


def read(corpus: DemoCorpus) -> Written:
    """The corpus with its rows."""
    lines = {source: read_lines(path) for source, path in corpus.files.items()}
    texts = {row: text for source in lines for row, text in _rows(source, lines[source])}
    return Written(corpus, lines, texts)

"""Where the benches' text comes from: files of documents with the columns `id` and `text`, in any of ENDINGS."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import zstandard

SHARED = Path(__file__).resolve().parents[2] / "shared"
CORPORA = SHARED / "corpora"
GPT2 = SHARED / "tokenizers" / "gpt2.json"


def files(folder: Path) -> list[Path]:
    """The files of documents in a folder, by name. Ends the program where there is none."""
    found = [file for file in sorted(folder.iterdir()) if _ending(file)]
    if not found:
        sys.exit(f"expected files that end in {', '.join(_READERS)}, found none: {folder}")
    return found


def documents(file: Path, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a file, or its first ones."""
    return islice(_READERS[_ending(file)](file), limit)


def texts(file: Path, limit: int | None = None) -> Iterator[str]:
    """The texts of a file, or its first ones."""
    return (row["text"] for row in documents(file, limit))


def _jsonl(file: Path) -> Iterator[dict[str, Any]]:
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".zst": zstandard.open, ".jsonl": open}
    with openers[file.suffix](file, "rb") as lines:
        for line in io.BufferedReader(lines):
            yield json.loads(line)


def _parquet(file: Path) -> Iterator[dict[str, Any]]:
    for batch in pq.ParquetFile(file).iter_batches(500, columns=["id", "text"]):
        yield from batch.to_pylist()


_READERS = {".jsonl": _jsonl, ".jsonl.gz": _jsonl, ".jsonl.zst": _jsonl, ".parquet": _parquet}


def _ending(file: Path) -> str:
    return next((ending for ending in _READERS if file.name.endswith(ending)), "")

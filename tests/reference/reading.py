"""Short ways for tests to read files, and to write them."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import zstandard

from gristmill.document import ROWS
from gristmill.sources import Chunk, Columns, Piece, find, read, split
from gristmill.sources.registry import format_name

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": lambda data: zstandard.compress(data),
    ".bz2": lambda data: bz2.compress(data, 1),
    ".xz": lzma.compress,
}


TEXT_ONLY = Columns()


def write(folder: Path, name: str, data: bytes | str) -> str:
    """Write a file, compressed if its name says so; returns its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(COMPRESS[path.suffix if path.suffix in COMPRESS else ""](data))
    return str(path)


def chunk_rows(chunk: Chunk, columns: Columns = TEXT_ONLY, batch_bytes: int = 1 << 20) -> list[dict[str, Any]]:
    """The rows of a chunk, as dictionaries."""
    rows = []
    for batch in read(chunk, columns, batch_bytes):
        assert batch.schema == ROWS
        batch.validate(full=True)
        rows += batch.to_pylist()
    return rows


def read_path(
    path: str, columns: Columns = TEXT_ONLY, batch_bytes: int = 1 << 20, **options: str
) -> list[dict[str, Any]]:
    """The rows of a path, in one chunk a file."""
    chunks = split(find(path), options, 1 << 40)
    return [row for chunk in chunks for row in chunk_rows(chunk, columns, batch_bytes)]


def texts(rows: Sequence[dict[str, Any]]) -> list[bytes]:
    """The texts of rows that must all be good."""
    assert not [row for row in rows if row["unreadable"]]
    return [row["text"] for row in rows]


def pieces(path: str, bounds: Sequence[int], **options: str) -> list[Chunk]:
    """A chunk for each range between the bounds, the last one open."""
    name = format_name(path, options)
    assert name is not None
    stops = [*bounds[1:], None]
    return [Chunk((Piece(path, name, start, stop, 1, "stamp"),)) for start, stop in zip(bounds, stops, strict=True)]

"""Rows of the demo on disk, sound or broken on purpose. Enters rows, leaves a JSONL or a Parquet file.

The same rows give the same JSONL bytes everywhere; gzip and Parquet files may differ in bytes (never in rows)
between versions of zlib and Arrow.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gristmill.formats.files import atomic, atomic_file

_LONE_SURROGATE = re.compile("[\ud800-\udc7f]")
_ROWS_IN_A_GROUP = 100


@dataclass(frozen=True)
class Row:
    """One page of the crawl. `broken` is the kind of damage to the row itself, if any."""

    id: str
    url: str
    text: str
    broken: str | None = None


def _broken_json(row: Row) -> str:
    line = json.dumps({"id": row.id, "url": row.url, "text": row.text}, ensure_ascii=False)
    return line[: len(line) * 2 // 3]


# A row of each broken kind, as a line of JSON.
BROKEN: Mapping[str, Callable[[Row], str]] = {
    "broken_json": _broken_json,
    "missing_text": lambda row: json.dumps({"id": row.id, "url": row.url}),
    "null_text": lambda row: json.dumps({"id": row.id, "text": None, "url": row.url}),
    "number_text": lambda row: json.dumps({"id": row.id, "text": len(row.text), "url": row.url}),
}


def json_line(row: Row) -> bytes:
    """The row as one line of JSONL, with its damage turned into real bytes and escapes."""
    if row.broken is None:
        line = json.dumps({"id": row.id, "text": row.text, "url": row.url}, ensure_ascii=False)
    else:
        line = BROKEN[row.broken](row)
    line = _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", line)
    return line.encode("utf-8", "surrogateescape") + b"\n"


def write_jsonl(path: Path, rows: Iterable[Row]) -> None:
    """Plain JSONL."""
    with atomic_file(path) as file:
        file.writelines(map(json_line, rows))


def write_jsonl_gz(path: Path, rows: Iterable[Row]) -> None:
    """JSONL, compressed, without a time or a file name in its header."""
    with atomic_file(path) as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as compressed:
        compressed.writelines(map(json_line, rows))


def write_parquet(path: Path, rows: Iterable[Row]) -> None:
    """Parquet in small row groups. Of the broken kinds it knows only `null_text`; its texts must be valid."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [(row.id, None if row.broken == "null_text" else row.text, row.url) for row in rows]
    schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("url", pa.string())])
    table = pa.table([list(column) for column in zip(*columns, strict=True)] or [[], [], []], schema=schema)
    with atomic(path) as temporary:
        pq.write_table(table, temporary, row_group_size=_ROWS_IN_A_GROUP, compression="zstd")

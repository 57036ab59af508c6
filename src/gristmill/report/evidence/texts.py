"""Texts of single documents, out of sift's files: read a row group at a time, and never more of them than a budget.

What enters: places of documents. What leaves: id, text and metadata, or None where it is not kept or the budget is
spent. Row groups that are read are held, so asking for documents that lie together is cheap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gristmill.formats.documents import open_parquet
from gristmill.report.duplicates import Document
from gristmill.report.evidence.folder import Chunk

_COLUMNS = ["row", "id", "text", "metadata"]


@dataclass(frozen=True)
class Found:
    """A document as sift left it."""

    id: str
    text: str
    metadata: str | None


@dataclass(frozen=True)
class Group:
    """One row group of one file, and the rows that it spans."""

    path: Path
    dropped: bool  # by the bounds of the day when it was sifted
    number: int
    first: int
    last: int
    bytes: int


class TextStore:
    """Reads row groups of an output folder as they are asked for."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._left_bytes = 0
        self._groups: dict[Chunk, list[Group]] = {}
        self._tables: dict[tuple[Path, int], tuple[Any, Any]] = {}  # rows, and the table

    def allow(self, more_bytes: int) -> None:
        """So much more may be read, decompressed; the first group may be whatever its size."""
        self._left_bytes += more_bytes

    def groups(self, chunk: Chunk) -> list[Group]:
        """The row groups of a chunk, kept and dropped."""
        if chunk not in self._groups:
            folder = self._output / "sift" / chunk.source
            paths = {False: folder / f"{chunk.stem}.parquet", True: folder / "dropped" / f"{chunk.stem}.parquet"}
            found = [_groups(path, dropped) for dropped, path in paths.items() if path.exists()]
            self._groups[chunk] = [group for of_file in found for group in of_file]
        return self._groups[chunk]

    def bytes_to_read(self, document: Document) -> int:
        """What it takes to read a document that was kept."""
        needed = [group for group in self._around(document) if not group.dropped]
        return sum(group.bytes for group in needed if (group.path, group.number) not in self._tables)

    def kept_text(self, document: Document) -> Found | None:
        """A document that is most likely among the kept ones."""
        return self._text(sorted(self._around(document), key=lambda group: group.dropped), document.row)

    def dropped_text(self, document: Document) -> Found | None:
        """A document that is most likely among the dropped ones."""
        return self._text(sorted(self._around(document), key=lambda group: not group.dropped), document.row)

    def _text(self, groups: Iterable[Group], row: int) -> Found | None:
        for group in groups:
            if (group.path, group.number) not in self._tables and not self._read(group):
                continue
            rows, table = self._tables[group.path, group.number]
            at = int(np.searchsorted(rows, row))
            if at < len(rows) and rows[at] == row:
                return Found(**table.slice(at, 1).to_pylist()[0])
        return None

    def _around(self, document: Document) -> list[Group]:
        groups = self.groups(Chunk(document.source, document.chunk))
        return [group for group in groups if group.first <= document.row <= group.last]

    def _read(self, group: Group) -> bool:
        if self._tables and group.bytes > self._left_bytes:
            return False
        self._left_bytes -= group.bytes
        with open_parquet(group.path) as file:
            table = file.read_row_group(group.number, columns=_COLUMNS, use_threads=False)
        self._tables[group.path, group.number] = (table["row"].to_numpy(), table.select(["id", "text", "metadata"]))
        return True


def _groups(path: Path, dropped: bool) -> list[Group]:
    with open_parquet(path) as file:
        found = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        at = file.schema_arrow.names.index("row")
    spans = [(group.column(at).statistics, group.total_byte_size) for group in found]
    return [Group(path, dropped, number, span.min, span.max, size) for number, (span, size) in enumerate(spans)]

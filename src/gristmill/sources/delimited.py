"""CSV and TSV: records of fields, the first of which names them.

What enters: a piece of a file, plain or compressed. What leaves: a row for each record behind the header. Line breaks
may stand inside quotes, so a file is always read from its front; kernels/delimited.py has the dialect, RFC 4180's.
An empty id is none; metadata values are strings.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.document import Bytes, Offsets, binaries
from gristmill.errors import SourceError
from gristmill.kernels.delimited import GOOD, scan, unquote
from gristmill.sources.found import Found, column
from gristmill.sources.piece import Columns, Piece
from gristmill.sources.records import read_records, skip_records
from gristmill.sources.rows import CSV, MOST_ROWS, json_objects, json_strings, readable, require_columns, rows
from gristmill.sources.window import Window

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_ANYWHERE = 1 << 62


def read(piece: Piece, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows that start in the piece."""
    return read_records(piece, columns, batch_bytes, _Delimited)


class _Delimited:
    """The scanner of delimited records. It reads the header when it is made."""

    def __init__(self, piece: Piece, columns: Columns, window: Window) -> None:
        self._columns = columns
        self._delimiter = _DELIMITERS[piece.format]
        self._fields = 0
        self._wanted = np.empty(0, np.int64)
        header = self._header(piece.path, window)
        if header:
            require_columns(piece.path, columns, header)
            self._fields = len(header)
            self._wanted = np.array([header.index(name) for name in columns.wanted])

    def skip(self, window: Window, start: int) -> None:
        skip_records(self, window, start)

    def scan(self, window: Window, within: int) -> tuple[int, pa.RecordBatch | None]:
        block = window.data
        consumed, found = self._scan(window, within, min(window.size // 2 + 1, MOST_ROWS))
        return consumed, self._batch(block, found, window.position) if len(found.lines) else None

    def _scan(self, window: Window, within: int, capacity: int) -> tuple[int, Found]:
        found = Found(capacity, len(self._wanted))
        bounds = (window.size, within, window.complete, self._columns.most_record_bytes)
        dialect = (ord(self._delimiter), self._fields, self._wanted)
        count, consumed = scan(window.data, *bounds, *dialect, *found.room)
        found.keep(count)
        return consumed, found

    def _header(self, path: str, window: Window) -> list[str]:
        """The names in the first record, which is left behind; none where the file has no record at all."""
        while True:
            block = window.data
            consumed, found = self._scan(window, _ANYWHERE, capacity=1)
            window.drop(consumed)
            if len(found.lines):
                break
            if window.ended:
                return []
            window.fill()
        text = block[found.lines[0] : consumed].tobytes().decode("utf-8", "replace")
        try:
            return next(csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter, strict=True))
        except csv.Error as error:
            raise SourceError(f"expected a header with the names of the columns, found {error}: {path}") from error

    def _batch(self, block: Bytes, found: Found, position: int) -> pa.RecordBatch:
        good = found.verdicts == GOOD
        text, *others = (_fields(block, found, n, good) for n in range(len(self._wanted)))
        id_ = None
        if self._columns.id is not None:
            offsets, data = others.pop(0)
            id_ = readable(offsets, data, np.diff(offsets) > 0)
        metadata = [json_strings(*other, good) for other in others]
        return rows(
            found.lines + position,
            binaries(*text, good),
            np.where(good, 0, CSV).astype(np.uint8),
            id_,
            json_objects(self._columns.metadata, metadata),
        )


def _fields(block: Bytes, found: Found, n: int, good: Any) -> tuple[Offsets, Bytes]:
    """The n-th wanted field of every good record, without its quotes; of the others, nothing."""
    starts, stops = np.where(good, found.starts[n], 0), np.where(good, found.stops[n], 0)
    return column(unquote, block, starts, stops, found.kinds[n])

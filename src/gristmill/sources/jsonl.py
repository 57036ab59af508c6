"""JSON Lines: one JSON object a line.

What enters: a piece of a file, plain or compressed. What leaves: a row for each line that is not blank, with the
verdict of `json.loads` on it (kernels/jsonl.py has the three exceptions). An id is a string, or a number, true or
false as it is written; metadata values are kept as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.document import Bytes, binaries
from gristmill.kernels.json_text import unescape
from gristmill.kernels.jsonl import GOOD, MISSING, NULL, OTHER, STRING, scan
from gristmill.kernels.lines import gather
from gristmill.sources.found import Found, column
from gristmill.sources.piece import Columns, Piece
from gristmill.sources.records import read_records
from gristmill.sources.rows import (
    JSON,
    MISSING_TEXT,
    MOST_ROWS,
    NOT_AN_OBJECT,
    NULL_TEXT,
    TEXT_TYPE,
    json_objects,
    readable,
    rows,
)
from gristmill.sources.window import Window

# What the kernel's verdicts on lines, and its kinds of text values, are called outside.
_OF_VERDICT = np.array([0, JSON, NOT_AN_OBJECT], np.uint8)
_OF_KIND = np.array([MISSING_TEXT, NULL_TEXT, 0, TEXT_TYPE], np.uint8)
_OPENERS = np.frombuffer(b"[{", np.uint8)


def read(piece: Piece, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows that start in the piece."""
    return read_records(piece, columns, batch_bytes, lambda *_: _JsonLines(columns), columns.most_record_bytes)


class _JsonLines:
    """The scanner of JSON Lines."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        names = [name.encode("utf-8", "surrogatepass") for name in columns.wanted]
        self._names = np.frombuffer(b"".join(names), np.uint8)
        self._bounds = np.cumsum([0, *map(len, names)])

    def skip(self, window: Window, start: int) -> None:
        window.skip_to_line(start)

    def scan(self, window: Window, within: int) -> tuple[int, pa.RecordBatch | None]:
        block, size = window.data, window.whole_lines(within)
        found = Found(min(size // 2 + 1, MOST_ROWS), len(self._columns.wanted))  # no row is shorter than 2 bytes
        count, consumed = scan(block, size, self._names, self._bounds, *found.room)
        found.keep(count)
        return consumed, self._batch(block, found, window.position) if count else None

    def _batch(self, block: Bytes, found: Found, position: int) -> pa.RecordBatch:
        verdicts = _OF_VERDICT[found.verdicts]
        found.kinds[:, found.verdicts != GOOD] = MISSING
        reasons = np.where(verdicts == 0, _OF_KIND[found.kinds[0]], verdicts)
        text = _plain(block, found, 0, found.kinds[0] == STRING)
        id_ = _ids(block, found, 1) if self._columns.id is not None else None
        names = self._columns.metadata
        first = len(self._columns.wanted) - len(names)
        metadata = [_as_written(block, found, first + n) for n in range(len(names))]
        return rows(found.lines + position, binaries(*text), reasons, id_, json_objects(names, metadata))


def _plain(block: Bytes, found: Found, value: int, valid: Any) -> tuple[Any, Any, Any]:
    """The valid ones of a value, unescaped."""
    starts, stops = np.where(valid, found.starts[value], 0), np.where(valid, found.stops[value], 0)
    return *column(unescape, block, starts, stops), valid


def _ids(block: Bytes, found: Found, value: int) -> Any:
    """Strings, numbers, true and false as texts; null for all else."""
    is_scalar = (found.kinds[value] == OTHER) & ~np.isin(block[found.starts[value]], _OPENERS)
    return readable(*_plain(block, found, value, is_scalar | (found.kinds[value] == STRING)))


def _as_written(block: Bytes, found: Found, value: int) -> Any:
    """The values as JSON, null where there is none."""
    valid = found.kinds[value] >= NULL
    quotes = found.kinds[value] == STRING
    starts = np.where(valid, found.starts[value] - quotes, 0)
    stops = np.where(valid, found.stops[value] + quotes, 0)
    return readable(*column(gather, block, starts, stops), valid)

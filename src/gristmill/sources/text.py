"""Plain text: a file, a paragraph or a line is a document.

What enters: a piece of a file, plain or compressed. What leaves: a row for the whole file (format `text`), for each
line that is not blank (`lines`), or for each run of such lines (`paragraphs`). There are no ids and no metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.document import binaries
from gristmill.kernels import lines as kernels
from gristmill.sources.decompress import DamagedError
from gristmill.sources.found import column
from gristmill.sources.piece import Columns, Piece
from gristmill.sources.records import Scanner, open_stream, read_records, skip_records
from gristmill.sources.rows import MOST_ROWS, SKIPPED_TOO_LONG, bad_row, rows
from gristmill.sources.window import BYTE_ORDER_MARK, Window

_READ_BYTES = 1 << 20


def read(piece: Piece, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows that start in the piece."""
    if piece.format == "text":
        return _read_whole(piece, columns.most_bytes)
    most_bytes = columns.most_record_bytes
    scanners: dict[str, Callable[[], Scanner]] = {"lines": _Lines, "paragraphs": partial(_Paragraphs, most_bytes)}
    return read_records(piece, columns, batch_bytes, lambda *_: scanners[piece.format](), most_bytes)


def _read_whole(piece: Piece, most_bytes: int) -> Iterator[pa.RecordBatch]:
    block = np.empty(_READ_BYTES, np.uint8)
    parts, size = [], 0
    stream = open_stream(piece)
    try:
        while count := stream.readinto(block.data):
            parts.append(block[:count].tobytes())
            size += count
            if size > most_bytes + len(BYTE_ORDER_MARK):
                yield bad_row(0, SKIPPED_TOO_LONG)
                return
    except DamagedError as error:
        yield bad_row(0, error.reason)
        return
    finally:
        stream.close()
    text = b"".join(parts).removeprefix(BYTE_ORDER_MARK)
    if text:
        yield rows(np.zeros(1, np.int64), pa.array([text], pa.large_binary()))


class _Lines:
    """The scanner of lines."""

    def skip(self, window: Window, start: int) -> None:
        window.skip_to_line(start)

    def scan(self, window: Window, within: int) -> tuple[int, pa.RecordBatch | None]:
        size = window.whole_lines(within)
        starts, stops = (np.empty(min(size // 2 + 1, MOST_ROWS), np.int64) for _ in range(2))
        count, consumed = kernels.lines(window.data, size, starts, stops)
        return consumed, _batch(window, starts[:count], stops[:count])


class _Paragraphs:
    """The scanner of paragraphs. Of one that is too long, a line is left behind: what follows is another."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes

    def skip(self, window: Window, start: int) -> None:
        skip_records(self, window, start, self._most_bytes)

    def scan(self, window: Window, within: int) -> tuple[int, pa.RecordBatch | None]:
        starts, stops = (np.empty(min(window.size // 2 + 1, MOST_ROWS), np.int64) for _ in range(2))
        count, consumed = kernels.paragraphs(window.data, window.size, within, window.complete, starts, stops)
        return consumed, _batch(window, starts[:count], stops[:count])


def _batch(window: Window, starts: Any, stops: Any) -> pa.RecordBatch | None:
    if len(starts) == 0:
        return None
    return rows(starts + window.position, binaries(*column(kernels.gather, window.data, starts, stops)))

"""Files that are streams of records, read range by range.

What enters: a piece of a line format, and a scanner that knows what a record of it is. What leaves: the rows that start
in the piece, each exactly once, whatever the cuts. Where the file breaks off, a last row says so.

A file that must be read from its front (compressed, or CSV) stays open when a piece of it is done, one file a
process, so that a worker that does tasks k, k + 2 and k + 5 decompresses the file once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from gristmill.sources.decompress import DecompressedFile
from gristmill.sources.opening import open_bytes
from gristmill.sources.piece import Columns, Piece
from gristmill.sources.registry import FORMATS, Cut, compression
from gristmill.sources.rows import SKIPPED_TOO_LONG, bad_row
from gristmill.sources.window import Window

_END_OF_ANY_FILE = 1 << 62
_SMALLEST_BLOCK_BYTES = 64 << 10


class Scanner(Protocol):
    """What a format knows about its records. The window always begins with one."""

    def skip(self, window: Window, start: int) -> None:
        """Go to the first record that starts at byte `start` or later."""

    def scan(self, window: Window, within: int) -> tuple[int, pa.RecordBatch | None]:
        """Rows for records that start within the first `within` bytes, and how many bytes they took; 0 bytes where
        the window must grow first."""


NO_LIMIT = 1 << 61


def skip_records(scanner: Scanner, window: Window, start: int, most_record_bytes: int = NO_LIMIT) -> None:
    """`Scanner.skip` for formats whose records can only be found one after another."""
    while window.position < start:
        consumed, _ = scanner.scan(window, start - window.position)
        window.drop(consumed)
        if consumed == 0 and window.ended:
            window.drop_rest()
            return
        if consumed == 0:
            _wait_for_more(window, most_record_bytes)


def _wait_for_more(window: Window, most_record_bytes: int) -> bool:
    """Let the window grow, as its first record is not whole; but what is longer than that is left behind, line by
    line. Whether it was: by its length alone, whatever the blocks in which the file came."""
    if window.size > most_record_bytes:
        window.drop_line()
        return True
    window.fill(most_record_bytes)
    return False


MakeScanner = Callable[[Piece, Columns, Window], Scanner]


@dataclass
class _Cursor:
    """A file that is open. No record starts at `done` or later and before the window."""

    key: tuple[Any, ...]
    window: Window
    scanner: Scanner
    done: int = 0


_kept: list[_Cursor] = []  # one at most


def read_records(
    piece: Piece, columns: Columns, batch_bytes: int, make_scanner: MakeScanner, most_record_bytes: int = NO_LIMIT
) -> Iterator[pa.RecordBatch]:
    """The rows that start in the piece. `most_record_bytes`: of formats whose records begin with a line, how long one
    may be before it is left behind, counted as too long."""
    by_seeking = FORMATS[piece.format].cut is Cut.BYTES and compression(piece.path) is None
    key = (piece.path, piece.stamp, piece.format, columns, batch_bytes)
    cursor = None if by_seeking else _take(key, piece.start)
    if cursor is None:
        window = _open(piece, max(0, piece.start - 1) if by_seeking else 0, batch_bytes)
        cursor = _Cursor(key, window, make_scanner(piece, columns, window))
    finished = False
    try:
        cursor.scanner.skip(cursor.window, piece.start)
        yield from _rows(cursor, piece, most_record_bytes)
        finished = not by_seeking and piece.stop is not None
    finally:
        if finished:
            _keep(cursor)
        else:
            cursor.window.close()


def _rows(cursor: _Cursor, piece: Piece, most_record_bytes: int) -> Iterator[pa.RecordBatch]:
    window = cursor.window
    stop = _END_OF_ANY_FILE if piece.stop is None else piece.stop
    while window.position < stop:
        consumed, batch = cursor.scanner.scan(window, stop - window.position)
        window.drop(consumed)
        if batch is not None:
            yield batch
        if consumed == 0:
            if window.ended:
                break
            position = window.position
            if _wait_for_more(window, most_record_bytes):
                yield bad_row(position, SKIPPED_TOO_LONG)
    cursor.done = stop
    if window.damage and window.position < stop:
        yield bad_row(window.position, window.damage)
        window.drop_rest()
    assert not (window.complete and window.position < stop and window.size), "a scanner left bytes behind"


def open_stream(piece: Piece, start: int = 0) -> Any:
    """The bytes of the piece's file, decompressed, from byte `start` of the file on: something with `readinto`."""
    file: Any = open_bytes(piece.path, start)
    suffix = compression(piece.path)
    return DecompressedFile(file, suffix, piece.path) if suffix else file


def _open(piece: Piece, start: int, batch_bytes: int) -> Window:
    """Small files get small blocks: there may be many."""
    stream = open_stream(piece, start)
    try:
        return Window(stream, start, min(batch_bytes, max(_SMALLEST_BLOCK_BYTES, 4 * piece.bytes)))
    except BaseException:
        stream.close()
        raise


def _take(key: tuple[Any, ...], start: int) -> _Cursor | None:
    """The cursor kept, if it is in this file and not too far. Nobody else can take it then."""
    if not _kept:
        return None
    cursor = _kept.pop()
    if cursor.key == key and cursor.done <= start:
        return cursor
    cursor.window.close()
    return None


def _keep(cursor: _Cursor) -> None:
    while _kept:
        _kept.pop().window.close()
    _kept.append(cursor)

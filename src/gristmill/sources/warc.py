"""WARC: what a crawler kept, record by record. WET files, which hold the pages' text, are of the same format.

What enters: a piece of a file, plain or compressed, record by record or as a whole. What leaves: a row for each record.
Those that hold a page (web_page.py tells) are documents: `text` is the HTML, or plain text, `id` the WARC-Record-ID,
and `url` and `date` are there as metadata. The others (requests, images, ...) carry a verdict that begins with
`skipped.`, for nothing is wrong with them. Where no record begins, one row says so, and reading goes on at the next
line that looks like the beginning of one.

Only pages are held in memory, up to MOST_PAGE_BYTES each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.document import Bytes, Offsets, buffers
from gristmill.errors import SourceError
from gristmill.sources.piece import Columns, Piece
from gristmill.sources.records import read_records, skip_records
from gristmill.sources.rows import (
    CONTENT_TYPE,
    GOOD,
    MOST_ROWS,
    REASONS,
    RECORD_TYPE,
    TOO_LONG,
    TRUNCATED,
    WARC,
    json_objects,
    json_strings,
    readable,
    require_columns,
    rows,
)
from gristmill.sources.web_page import (
    MOST_PAGE_BYTES,
    Headers,
    NoPageError,
    is_page,
    page,
    parse_headers,
    require_charset_detection,
    target,
)
from gristmill.sources.window import Window

_MAGIC = b"WARC/"
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_NEXT_RECORD = re.compile(rb"\nWARC/\d\.\d+\r?\n")
_LONGEST_MATCH_BYTES = 32
_LONGEST_HEAD_BYTES = 64 << 10
_GAP = re.compile(rb"[\r\n]*")
_LENGTH = re.compile(rb"\d{1,18}")
_NO_END = 1 << 62
_VALUES: Mapping[str, Callable[[Headers], bytes | None]] = {
    "id": lambda headers: headers.get(b"warc-record-id"),
    "url": target,
    "date": lambda headers: headers.get(b"warc-date"),
}
_PAGE_RECORDS = (b"response", b"conversion")
_MOST_BATCH_BYTES = 8 << 20  # of pages, unpacked


def read(piece: Piece, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows that start in the piece."""
    return read_records(piece, columns, batch_bytes, _Warc)


@dataclass(frozen=True)
class _Record:
    """What stands at a place where a record should begin."""

    headers: Headers
    head_bytes: int
    bytes: int  # head and block; _NO_END where nobody knows
    reason: int  # GOOD: its block has to be looked at


_NO_RECORD = _Record({}, 0, _NO_END, WARC)
_CUT_OFF = _Record({}, 0, _NO_END, TRUNCATED)


class _Warc:
    """The scanner of WARC records."""

    def __init__(self, piece: Piece, columns: Columns, window: Window) -> None:
        require_columns(piece.path, columns, ("text", *_VALUES))
        require_charset_detection(piece.path)
        self._columns = columns
        begin = window.data[: min(window.size, len(_MAGIC))].tobytes()
        if not _MAGIC.startswith(begin.rstrip(b"\n")):
            raise SourceError(
                f"expected WARC records, found {begin!r} at the start: {piece.path}\n"
                "  Rename the file after what it is."
            )

    def skip(self, window: Window, start: int) -> None:
        skip_records(self, window, start)

    def scan(self, window: Window, within: int) -> tuple[int, pa.RecordBatch | None]:
        found = _Found(self._columns)
        at = 0
        while at < within and found.has_room():
            at = _after_gap(window, at)
            if at >= min(within, window.size):
                break
            record = _record_at(window, at)
            if record is None:
                break
            if at + record.bytes <= _whole_bytes(window):
                block = window.data[at + record.head_bytes : at + record.bytes]
                found.add(window.position + at, record, block)
                at += record.bytes
                continue
            # At the front it can be waited for, or left behind.
            if at == 0 and (record.reason != GOOD or window.ended):
                position = window.position
                reason, at = _leave_behind(window, record)
                found.add_bad(position, reason)
            break
        return at, found.batch()


def _whole_bytes(window: Window) -> int:
    """How many bytes are surely the file's: the last one may be a newline that the window put there."""
    return window.size - window.complete


def _after_gap(window: Window, at: int) -> int:
    gap = _GAP.match(window.data.data, at, window.size)
    assert gap is not None, "it matches nothing as well"
    return gap.end()


def _record_at(window: Window, at: int) -> _Record | None:
    """None where that cannot be told before the window has grown."""
    data = window.data.data
    begin = bytes(data[at : min(at + len(_MAGIC), window.size)])
    if not _MAGIC.startswith(begin):
        return _NO_RECORD
    stop = min(at + _LONGEST_HEAD_BYTES, window.size)
    head = _HEAD_END.search(data, at, stop)
    if head is None:
        if stop < window.size or stop == at + _LONGEST_HEAD_BYTES:
            return _NO_RECORD
        return _CUT_OFF if window.ended else None
    headers = parse_headers(bytes(data[at : head.start()]))
    length = headers.get(b"content-length", b"")
    if b"warc-type" not in headers or not _LENGTH.fullmatch(length):
        return _NO_RECORD
    head_bytes = head.end() - at
    record_bytes = head_bytes + int(length)
    if headers[b"warc-type"] not in _PAGE_RECORDS:
        reason = RECORD_TYPE
    elif is_page(headers) is False:
        reason = CONTENT_TYPE
    else:
        reason = TOO_LONG if int(length) > MOST_PAGE_BYTES else GOOD
    return _Record(headers, head_bytes, record_bytes, reason)


def _leave_behind(window: Window, record: _Record) -> tuple[int, int]:
    """Go on until the end of what is at the front of the window and will not be held in it. Returns the verdict on
    it, and how many bytes of the window are still its own."""
    left = record.bytes
    while left > _whole_bytes(window):
        kept = 0
        if record is _NO_RECORD:
            following = _NEXT_RECORD.search(window.data.data, 0, window.size)
            if following is not None:
                return record.reason, following.start() + 1
            kept = min(window.size, _LONGEST_MATCH_BYTES)
        if window.ended:
            reason = record.reason if record is _NO_RECORD else TRUNCATED
            if window.damage is not None:
                reason = REASONS.index(window.damage)
            window.drop_rest()
            return reason, 0
        left -= window.size - kept
        window.drop(window.size - kept)
        window.fill()
    return record.reason, left


@dataclass
class _Found:
    """Rows, until they are a batch."""

    columns: Columns
    positions: list[int] = field(default_factory=list)
    texts: list[bytes | None] = field(default_factory=list)
    reasons: list[int] = field(default_factory=list)
    headers: list[Headers] = field(default_factory=list)
    text_bytes: int = 0

    def has_room(self) -> bool:
        """Whether one more row may be added."""
        return len(self.positions) < MOST_ROWS and self.text_bytes < _MOST_BATCH_BYTES

    def add(self, position: int, record: _Record, block: Bytes) -> None:
        """A record that is whole."""
        if record.reason != GOOD:
            self.add_bad(position, record.reason)
            return
        try:
            text = page(record.headers, block.tobytes())
        except NoPageError as error:
            self.add_bad(position, error.reason)
            return
        self._add(position, text, GOOD, record.headers)
        self.text_bytes += len(text)

    def add_bad(self, position: int, reason: int) -> None:
        """A record that is no document, or what stands where a record should."""
        self._add(position, None, reason, {})

    def _add(self, position: int, text: bytes | None, reason: int, headers: Headers) -> None:
        self.positions.append(position)
        self.texts.append(text)
        self.reasons.append(reason)
        self.headers.append(headers)

    def batch(self) -> pa.RecordBatch | None:
        """The rows; None where there are none."""
        if not self.positions:
            return None
        names = self.columns.metadata
        return rows(
            np.array(self.positions, np.int64),
            pa.array(self.texts, pa.large_binary()),
            np.array(self.reasons, np.uint8),
            readable(*self._values(self.columns.id or "id")),
            json_objects(names, [json_strings(*self._values(name)) for name in names]),
        )

    def _values(self, name: str) -> tuple[Offsets, Bytes, npt.NDArray[np.bool_]]:
        """A column, as buffers, and which of its rows have a value."""
        values = self.texts if name == "text" else [_VALUES[name](headers) or None for headers in self.headers]
        column = pa.array(values, pa.large_binary())
        return *buffers(column), column.is_valid().to_numpy(zero_copy_only=False)

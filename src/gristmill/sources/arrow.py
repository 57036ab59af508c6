"""Arrow IPC and Feather files, cut by record batches.

What enters: a piece that is a range of record batches, in the file format or (as Hugging Face writes it) the stream
format. What leaves: its rows. A position is the number of the record batch times 2^32, plus the row in it: so no batch
before the piece's own need be decompressed to count its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from gristmill.sources.columnar import arrow_input, table_rows
from gristmill.sources.opening import is_remote
from gristmill.sources.piece import Columns, Piece
from gristmill.sources.rows import require_columns

_FILE_MAGIC = b"ARROW1"
_BATCH_POSITIONS = 1 << 32


def unit_bytes(path: str) -> list[int]:
    """The size of each record batch, all taken as alike. None for remote streams, which must be read to be counted."""
    with arrow_input(path, "Arrow") as source:
        size = source.size()
        if size == 0:
            return []
        if _is_file_format(source):
            count = pa.ipc.open_file(source).num_record_batches
        else:
            count = 0 if is_remote(path) else _batches_in_stream(source)
        return [size // count] * count if count else []


def read(piece: Piece, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows of the piece's record batches."""
    with arrow_input(piece.path, "Arrow") as source:
        if source.size() == 0:
            return
        for number, batch in _batches(source, piece, columns):
            yield from table_rows(batch, number * _BATCH_POSITIONS, columns, batch_bytes)


def _batches(source: Any, piece: Piece, columns: Columns) -> Iterator[tuple[int, Any]]:
    """The numbers and the batches of the piece, the wanted columns only."""
    is_file = _is_file_format(source)
    open_source = pa.ipc.open_file if is_file else pa.ipc.open_stream
    names = open_source(source).schema.names
    require_columns(piece.path, columns, names)
    source.seek(0)
    wanted = sorted({names.index(name) for name in columns.wanted})
    reader = open_source(source, options=pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False))
    if not is_file:
        yield from islice(enumerate(reader), piece.start, piece.stop)
        return
    stop = reader.num_record_batches if piece.stop is None else piece.stop
    for number in range(piece.start, stop):
        yield number, reader.get_batch(number)


def _is_file_format(source: Any) -> bool:
    magic = source.read(len(_FILE_MAGIC))
    source.seek(0)
    return bool(magic == _FILE_MAGIC)


def _batches_in_stream(source: Any) -> int:
    messages = pa.ipc.MessageReader.open_stream(source)
    return sum(message.type == "record batch" for message in messages)

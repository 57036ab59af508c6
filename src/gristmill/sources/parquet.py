"""Parquet files, cut by row groups.

What enters: a piece that is a range of row groups. What leaves: its rows; a position is the number of the row in its
file. Only the wanted columns are read, a few thousand rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.sources.columnar import arrow_input, table_rows
from gristmill.sources.opening import is_remote
from gristmill.sources.piece import Columns, Piece
from gristmill.sources.rows import require_columns

_MOST_ROWS_AT_ONCE = 4096  # dictionary encoding may make rows far longer than their share of the file
_REMOTE_READ_BYTES = 1 << 20


def unit_bytes(path: str) -> list[int]:
    """The uncompressed size of each row group. Reads the footer only."""
    with arrow_input(path, "Parquet") as source:
        if source.size() == 0:
            return []
        footer = pq.read_metadata(source)
        return [footer.row_group(group).total_byte_size for group in range(footer.num_row_groups)]


def read(piece: Piece, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows of the piece's row groups."""
    with arrow_input(piece.path, "Parquet") as source:
        if source.size() == 0:
            return
        buffer_bytes = _REMOTE_READ_BYTES if is_remote(piece.path) else 0
        footer = pq.read_metadata(source)
        file = pq.ParquetFile(
            source,
            metadata=footer,
            buffer_size=buffer_bytes,
            page_checksum_verification=True,
            read_dictionary=_strings(footer.schema, columns),
        )
        require_columns(piece.path, columns, file.schema_arrow.names)
        first_row = 0
        for group in range(file.num_row_groups if piece.stop is None else piece.stop):
            if group >= piece.start:
                yield from _group_rows(file, group, first_row, columns, batch_bytes)
            first_row += file.metadata.row_group(group).num_rows


def _strings(schema: Any, columns: Columns) -> list[str]:
    """The wanted columns of strings. They stay dictionary-encoded until rows are cut into batches: one long string that
    4,096 rows name would else become 4,096 long strings."""
    strings = {
        column.path
        for column in map(schema.column, range(len(schema.names)))
        if column.physical_type == "BYTE_ARRAY" and column.max_repetition_level == 0
    }
    return [name for name in columns.wanted if name in strings]


def _group_rows(file: Any, group: int, first_row: int, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    footer = file.metadata.row_group(group)
    row_bytes = footer.total_byte_size // max(1, footer.num_rows) + 1
    at_once = min(max(1, batch_bytes // row_bytes), _MOST_ROWS_AT_ONCE)
    wanted = list(dict.fromkeys(columns.wanted))
    for batch in file.iter_batches(at_once, row_groups=[group], columns=wanted, use_threads=False):
        yield from table_rows(batch, first_row, columns, batch_bytes)
        first_row += batch.num_rows

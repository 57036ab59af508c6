"""A chunk's rows, whatever its pieces are made of.

What enters: a chunk and the columns that become documents. What leaves: batches of schema ROWS, in the order of the
files, about `batch_bytes` each; a batch is larger only where one row is. The rows are the same for any `batch_bytes`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from gristmill.document import ROWS
from gristmill.sources.piece import Chunk, Columns
from gristmill.sources.registry import reader
from gristmill.sources.rows import MOST_ROWS


def read_chunk(chunk: Chunk, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """All rows of the chunk, good and bad, up to its limit."""
    left = chunk.limit
    small: list[pa.RecordBatch] = []
    small_bytes = small_rows = 0
    for batch in _batches(chunk, columns, batch_bytes):
        if left is not None:
            batch = batch.slice(0, left)
            left -= batch.num_rows
        size = batch.nbytes
        is_large = size > batch_bytes // 2 or batch.num_rows > MOST_ROWS // 2
        if small and (is_large or small_bytes + size > batch_bytes or small_rows + batch.num_rows > MOST_ROWS):
            yield _joined(small)
            small, small_bytes, small_rows = [], 0, 0
        if is_large:
            yield batch
        else:
            small.append(batch)
            small_bytes += size
            small_rows += batch.num_rows
        if left == 0:
            break
    if small:
        yield _joined(small)


def _batches(chunk: Chunk, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    for number, piece in enumerate(chunk.pieces):
        for batch in reader(piece.format)(piece, columns, batch_bytes):
            file = pa.array(np.full(batch.num_rows, number, np.int32))
            yield pa.RecordBatch.from_arrays([file, *batch.columns], schema=ROWS)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]

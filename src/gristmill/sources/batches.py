"""A chunk's rows, whatever its pieces are made of.

What enters: a chunk and the columns that become documents. What leaves: batches of schema ROWS, in the order of the
files, of `batch_bytes` of strings at most; a batch is larger only where one row is. The rows are the same for any
`batch_bytes`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import ROWS
from gristmill.sources.find import require_unchanged
from gristmill.sources.hub import fetched
from gristmill.sources.piece import Chunk, Columns
from gristmill.sources.registry import reader
from gristmill.sources.rows import MOST_ROWS, SKIPPED_TOO_LONG


def read_chunk(chunk: Chunk, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """All rows of the chunk, good and bad, up to its limit.

    Where a batch ends is decided by its rows alone, never by the blocks in which the file came: a worker that goes on
    in a file that it has open gives the same batches as one that opens it anew.
    """
    left = chunk.limit
    held: list[pa.RecordBatch] = []
    held_bytes = held_rows = 0
    for batch in _batches(chunk, columns, batch_bytes):
        batch = _without_longer(batch, columns.most_bytes)
        if left is not None:
            batch = batch.slice(0, left)
            left -= batch.num_rows
        ends = np.cumsum(_row_bytes(batch))
        start = 0
        while start < batch.num_rows:
            before = int(ends[start - 1]) if start else 0
            fitting = int(np.searchsorted(ends, before + batch_bytes - held_bytes, side="right"))
            stop = min(max(fitting, start if held else start + 1), start + MOST_ROWS - held_rows, batch.num_rows)
            if stop > start:
                held.append(batch.slice(start, stop - start))
                held_bytes += int(ends[stop - 1]) - before
                held_rows += stop - start
            if stop < batch.num_rows:
                yield _joined(held)
                held, held_bytes, held_rows = [], 0, 0
            start = stop
        if left == 0:
            break
    if held:
        yield _joined(held)


def _without_longer(batch: pa.RecordBatch, most_bytes: int) -> pa.RecordBatch:
    """The batch with a verdict in the place of texts that are too long."""
    is_longer = pc.greater(pc.binary_length(batch["text"]), most_bytes).fill_null(False)
    if not pc.any(is_longer).as_py():
        return batch
    text = pc.if_else(is_longer, pa.scalar(None, pa.large_binary()), batch["text"])
    verdict = pc.if_else(is_longer, SKIPPED_TOO_LONG, batch["unreadable"])
    columns = {**{name: batch[name] for name in batch.schema.names}, "text": text, "unreadable": verdict}
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=batch.schema)


def _row_bytes(batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """What the rows of a batch hold in strings."""
    lengths = [pc.binary_length(batch.column(name)).fill_null(0) for name in ("id", "text", "metadata")]
    return np.asarray(sum(length.to_numpy(zero_copy_only=False) for length in lengths), np.int64)


def _batches(chunk: Chunk, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    for number, piece in enumerate(chunk.pieces):
        local = fetched(piece)
        for batch in reader(local.format)(local, columns, batch_bytes):
            file = pa.array(np.full(batch.num_rows, number, np.int32))
            yield pa.RecordBatch.from_arrays([file, *batch.columns], schema=ROWS)
        require_unchanged(piece)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]

"""Rows of ids as the Arrow columns that Parquet and Hugging Face folders share.

input_ids       list<uint16 | uint32>
attention_mask  list<int8>, where rows may end in padding: 1 for a token, 0 for padding
seq_lengths     list<int32>, where several documents may share a row: how many tokens each of them has there
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.errors import FormatError
from gristmill.formats.row_batch import About, RowBatch

_MOST = 2**31 - 1  # what 32-bit list offsets can say


def columns(about: About) -> dict[str, Any]:
    """Names and types of the columns of such rows."""
    found = {"input_ids": _list_of(pa.from_numpy_dtype(about.dtype))}
    if about.may_pad:
        found["attention_mask"] = _list_of(pa.int8())
    if about.strategy in ("wrapped", "best_fit"):
        found["seq_lengths"] = _list_of(pa.int32())
    return found


def schema(about: About, metadata: dict[str, str]) -> Any:
    """The Arrow schema of such rows."""
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns(about).items()], metadata)


def record_batch(about: About, batch: RowBatch, with_schema: Any) -> Any:
    """The rows as one record batch; ids are not copied."""
    if len(batch.ids) > _MOST:  # a batch is a single row then
        raise FormatError(
            f"expected documents of at most {_MOST:,} tokens, found one of {len(batch.ids):,}\n"
            "  Pack it: give a sequence length."
        )
    arrays = {
        "input_ids": lambda: _lists(batch.ids.astype(about.dtype, copy=False), batch.offsets),
        "attention_mask": lambda: _lists(attention_mask(batch), batch.offsets),
        "seq_lengths": lambda: _lists(batch.part_lengths().astype(np.int32), batch.segments.offsets),
    }
    return pa.record_batch([arrays[name]() for name in columns(about)], schema=with_schema)


def attention_mask(batch: RowBatch) -> npt.NDArray[np.int8]:
    """1 where a row's real tokens are, end to end."""
    widths = np.diff(batch.offsets)
    if (batch.lengths == widths).all():
        return np.ones(len(batch.ids), np.int8)
    runs = np.stack([batch.lengths, widths - batch.lengths], axis=1).reshape(-1)
    return np.repeat(np.tile(np.array([1, 0], np.int8), batch.rows), runs)


def _list_of(kind: Any) -> Any:
    return pa.list_(pa.field("item", kind, nullable=False))


def _lists(values: npt.NDArray[Any], offsets: npt.NDArray[np.int64]) -> Any:
    kind = pa.from_numpy_dtype(values.dtype)
    items = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])
    bounds = pa.py_buffer(offsets.astype(np.int32))
    return pa.Array.from_buffers(_list_of(kind), len(offsets) - 1, [None, bounds], children=[items])

"""Rows → the arrays of a batch, filled by one kernel call.

    input_ids     (rows, sequence_length) int64
    labels        the same, with -100 at padding (and at first tokens, if asked): the trainer shifts them, as
                  Hugging Face models do
    position_ids  the same shape; from 0 again at each document part and at the padding
    cu_seqlens    int32: where the parts begin in the flattened batch, and its end, rows * sequence_length, as
                  variable-length attention takes it; the padding of a row is a part of its own
    max_seqlen    int: tokens of the longest part, padding included
    rows          (rows,) int64: the row numbers, for tracing

What is guaranteed: every array is the batch's own; the bounds of parts are the same in position_ids and cu_seqlens.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gristmill.formats.packed_rows import Found, PackedRows, damaged_row
from gristmill.kernels.expand import IGNORED, expand
from gristmill.loader.cursor import I64

__all__ = ["IGNORED", "Batch", "collate"]

Batch = dict[str, Any]


_U32, _I64 = np.dtype(np.uint32), np.dtype(np.int64)
_LIKE = {dtype: np.zeros(0, dtype) for dtype in (np.dtype(np.uint16), _U32, _I64)}  # what the files' arrays are of


def collate(packed: PackedRows, rows: I64, found: Found, ignore_first_tokens: bool) -> Batch:
    """The batch of the rows that were found there. Raises FormatError where a row's parts do not make sense."""
    row_tokens, dtype = packed.manifest.layout.sequence_length, packed.manifest.layout.dtype
    # One block, because malloc keeps a single big one for the next batch and gives three back to the system, whose
    # pages are then faulted in anew: 64 rows of 2,048 at 3,600 M tokens/s instead of 240.
    columns = np.empty((3, len(rows), row_tokens), np.int64)
    input_ids, labels, position_ids = columns.reshape(3, -1)
    cu_seqlens = np.empty(found.parts + 1, np.int32)
    longest = expand(
        found.table,
        found.file_of,
        found.local,
        _LIKE[dtype],
        _LIKE[_U32],
        _LIKE[_I64],
        row_tokens,
        ignore_first_tokens,
        input_ids,
        labels,
        position_ids,
        cu_seqlens,
    )
    if longest < 0:
        row = int(rows[-1 - longest])
        raise damaged_row(row, packed.path_of(row))
    return {
        "input_ids": columns[0],
        "labels": columns[1],
        "position_ids": columns[2],
        "cu_seqlens": cu_seqlens,
        "max_seqlen": longest,
        "rows": rows,
    }

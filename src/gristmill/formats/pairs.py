"""Pairs of documents that are to be one: a column file of positions, `lowest` and `other`.

A position is the number of the row among all rows read, in the order of sources and chunks, from 1; as `lowest`, 0
stands for a document of an earlier run. Where those are told apart, a position from FAR on is one of them, see `far`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.formats.column_file import ColumnFile, write_columns

KIND, VERSION = "pairs of documents", 1
_SCHEMA = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in ("lowest", "other")])
_BATCH_ROWS = 1 << 20

FAR = 1 << 56
_RUN_BITS = 40  # of positions within a run

Positions = npt.NDArray[np.int64]


def far(run: int) -> int:
    """What is added to a position in the so-manyth of earlier runs: those positions ascend by run, then as in it."""
    return FAR + (run << _RUN_BITS)


def write(path: str | os.PathLike[str], lowest: Positions, other: Positions) -> None:
    """Write pairs in the order in which they are given."""
    pieces = (slice(start, start + _BATCH_ROWS) for start in range(0, len(lowest), _BATCH_ROWS))
    write_batches(path, ((lowest[piece], other[piece]) for piece in pieces))


def write_batches(path: str | os.PathLike[str], batches: Iterable[tuple[Positions, Positions]]) -> int:
    """Write pairs as they come; returns how many."""
    columns = (pa.record_batch([pa.array(lowest), pa.array(other)], _SCHEMA) for lowest, other in batches)
    return write_columns(path, KIND, VERSION, _SCHEMA, columns)


def read(path: str | Path) -> Iterator[tuple[Positions, Positions]]:
    """The pairs, some at a time."""
    file = ColumnFile(path, KIND, VERSION)
    for number in range(len(file)):
        yield _columns(file, number)


def read_batch(path: str | Path, number: int) -> tuple[Positions, Positions]:
    """The pairs that came as one batch."""
    return _columns(ColumnFile(path, KIND, VERSION), number)


def _columns(file: ColumnFile, number: int) -> tuple[Positions, Positions]:
    batch = file.batch(number)
    return batch.column("lowest").to_numpy(), batch.column("other").to_numpy()

"""Columns of whole numbers as an Arrow IPC file, made to be memory-mapped: what global steps sort and look up.

Three layouts:
    OCCURRENCES  low, high (uint64), place (int64)   what a chunk holds: 128 bits of hash, and where it is first
    PLACES       chunk (int32), place (int64)        some places, by chunk and then by place
    SEEN         low, high (uint64)                  what all chunks of a run hold, for the runs that come after it
A batch of OCCURRENCES or SEEN is a run: ordered by low, high, and no pair twice. PLACES has at most one batch.

What is guaranteed: the bytes are a pure function of the content; a file of another kind or version, or a truncated
one, is a FormatError when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.formats.column_file import ColumnFile, write_columns

VERSION = 1
Columns = tuple[npt.NDArray[Any], ...]


class Layout(NamedTuple):
    """What the columns of a kind of file are called, and their types."""

    kind: str
    columns: dict[str, npt.DTypeLike]

    def schema(self) -> Any:
        """The Arrow schema."""
        types = {name: pa.from_numpy_dtype(np.dtype(dtype)) for name, dtype in self.columns.items()}
        return pa.schema([pa.field(name, type_, nullable=False) for name, type_ in types.items()])


OCCURRENCES = Layout("occurrences", {"low": np.uint64, "high": np.uint64, "place": np.int64})
SEEN = Layout("seen hashes", {"low": np.uint64, "high": np.uint64})
PLACES = Layout("places", {"chunk": np.int32, "place": np.int64})


def write(path: Path, layout: Layout, batches: Iterable[Sequence[npt.NDArray[Any]]]) -> None:
    """Write the batches as they come, one in memory at a time; empty ones are left out."""
    schema = layout.schema()
    records = (
        pa.record_batch([pa.array(column, field.type) for field, column in zip(schema, columns, strict=True)], schema)
        for columns in batches
        if len(columns[0])
    )
    write_columns(path, layout.kind, VERSION, schema, records)


def read(path: str | Path, layout: Layout) -> list[Columns]:
    """The batches' columns, memory-mapped: views that keep the mapping alive."""
    file = ColumnFile(path, layout.kind, VERSION)
    batches = (file.batch(number) for number in range(len(file)))
    return [tuple(column.to_numpy() for column in batch.columns) for batch in batches]


def read_places(paths: Iterable[str], chunk: int) -> npt.NDArray[np.int64]:
    """The places of one chunk in all these files, ascending."""
    found = [np.zeros(0, np.int64)]
    for path in paths:
        for chunks, places in read(path, PLACES):
            first, last = np.searchsorted(chunks, [chunk, chunk + 1])
            found.append(places[first:last])
    return np.sort(np.concatenate(found))

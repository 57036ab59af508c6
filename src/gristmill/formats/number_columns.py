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

from gristmill.errors import FormatError
from gristmill.formats.files import atomic

VERSION = 1
Columns = tuple[npt.NDArray[Any], ...]


class Layout(NamedTuple):
    """What the columns of a kind of file are called, and their types."""

    kind: str
    columns: dict[str, npt.DTypeLike]

    def schema(self) -> Any:
        """The Arrow schema, the kind in its metadata."""
        fields = [
            pa.field(name, pa.from_numpy_dtype(np.dtype(dtype)), nullable=False) for name, dtype in self.columns.items()
        ]
        return pa.schema(fields, {"gristmill.kind": self.kind, "gristmill.version": str(VERSION)})


OCCURRENCES = Layout("occurrences", {"low": np.uint64, "high": np.uint64, "place": np.int64})
SEEN = Layout("seen hashes", {"low": np.uint64, "high": np.uint64})
PLACES = Layout("places", {"chunk": np.int32, "place": np.int64})


def write(path: Path, layout: Layout, batches: Iterable[Sequence[npt.NDArray[Any]]]) -> None:
    """Write the batches as they come, one in memory at a time; empty ones are left out."""
    schema = layout.schema()
    with atomic(path) as temporary, pa.ipc.new_file(str(temporary), schema) as writer:
        for columns in batches:
            if len(columns[0]):
                arrays = [_arrow(field.type, column) for field, column in zip(schema, columns, strict=True)]
                writer.write_batch(pa.record_batch(arrays, schema))


def read(path: str | Path, layout: Layout) -> list[Columns]:
    """The batches' columns, memory-mapped: views that keep the mapping alive."""
    try:
        with pa.memory_map(str(path)) as source:
            reader = pa.ipc.open_file(source)
            if not reader.schema.equals(layout.schema(), check_metadata=True):
                raise _unexpected(layout, f"something else ({dict(reader.schema.metadata or {})})", path)
            batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
    except (pa.ArrowInvalid, OSError) as error:
        raise _unexpected(layout, f"a damaged file or none ({error})", path) from error
    return [
        tuple(
            np.frombuffer(column.buffers()[1], dtype, len(column))
            for column, dtype in zip(batch.columns, layout.columns.values(), strict=True)
        )
        for batch in batches
    ]


def read_places(paths: Iterable[str], chunk: int) -> npt.NDArray[np.int64]:
    """The places of one chunk in all these files, ascending."""
    found = [np.zeros(0, np.int64)]
    for path in paths:
        for chunks, places in read(path, PLACES):
            first, last = np.searchsorted(chunks, [chunk, chunk + 1])
            found.append(places[first:last])
    return np.sort(np.concatenate(found))


def _arrow(kind: Any, column: npt.NDArray[Any]) -> Any:
    return pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(np.ascontiguousarray(column))])


def _unexpected(layout: Layout, found: str, path: str | Path) -> FormatError:
    return FormatError(
        f"expected {layout.kind} of version {VERSION}, found {found}: {path}\n"
        "  Run `gristmill run` again to rebuild this step."
    )

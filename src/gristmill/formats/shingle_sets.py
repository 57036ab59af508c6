"""Sets of n-grams of some documents: a column file of positions (see formats/pairs.py) and ascending 64-bit hashes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.formats.column_file import ColumnFile, write_columns

KIND, VERSION = "shingle sets", 1
_SCHEMA = pa.schema(
    [
        pa.field("position", pa.int64(), nullable=False),
        pa.field("hashes", pa.large_list(pa.field("item", pa.uint64(), nullable=False)), nullable=False),
    ]
)

Sets = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint64]]  # positions, offsets, hashes


def write(path: str | os.PathLike[str], sets: Iterable[Sets]) -> int:
    """Write sets as they come, positions ascending; returns how many."""

    def batches() -> Iterator[pa.RecordBatch]:
        for positions, offsets, hashes in sets:
            column = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(hashes), type=_SCHEMA.field(1).type)
            yield pa.record_batch([pa.array(positions), column], _SCHEMA)

    return write_columns(path, KIND, VERSION, _SCHEMA, batches())


def read(path: str | Path) -> Iterator[Sets]:
    """The sets, some at a time, as views of the file."""
    file = ColumnFile(path, KIND, VERSION)
    for number in range(len(file)):
        yield _columns(file.batch(number))


def read_some(path: str | Path, wanted: npt.NDArray[np.int64]) -> Iterator[Sets]:
    """The sets at those of these positions (ascending) that are in the file."""
    file = ColumnFile(path, KIND, VERSION)
    for number in range(len(file)):
        batch = file.batch(number)
        positions = batch.column("position").to_numpy()
        start, stop = np.searchsorted(wanted, [positions[0], positions[-1] + 1]) if len(positions) else (0, 0)
        if start < stop:
            places = np.searchsorted(positions, wanted[start:stop])
            there = positions[places] == wanted[start:stop]
            yield _columns(batch.take(pa.array(places[there])))


def _columns(batch: Any) -> Sets:
    sets = batch.column("hashes")
    return batch.column("position").to_numpy(), sets.offsets.to_numpy(), sets.values.to_numpy()

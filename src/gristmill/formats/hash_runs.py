"""Sorted hashes of some documents, a run for each band: what equal hashes are found in, now and in later runs.

A column file; record batch b is band b: `hash` (ascending), `further` where a hash has 128 bits, and `position`,
counted from the first position of all, which stands in the metadata. Equal hashes are in the order of positions.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.formats.column_file import ColumnFile, write_columns

KIND, VERSION = "hash runs", 1
_FIRST = "gristmill.first_position"
_HASHES = 1 << 64
_COLUMNS = {"hash": pa.uint64(), "further": pa.uint64(), "position": pa.uint32()}


class Run(NamedTuple):
    """One band's hashes, ascending, and whose they are."""

    hash: npt.NDArray[np.uint64]
    further: npt.NDArray[np.uint64]  # the other half of each hash, or empty
    position: npt.NDArray[np.uint32]


def write_runs(path: str | os.PathLike[str], first_position: int, further: bool, runs: Iterable[Run]) -> int:
    """Write the runs as they come, one in memory at a time; returns the number of hashes."""
    fields = [pa.field(name, kind, nullable=False) for name, kind in _COLUMNS.items() if name != "further" or further]
    schema = pa.schema(fields)
    batches = (pa.record_batch([pa.array(getattr(run, name)) for name in schema.names], schema) for run in runs)
    return write_columns(path, KIND, VERSION, schema, batches, {_FIRST: str(first_position)})


class HashRuns:
    """A file of runs, mapped."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = ColumnFile(path, KIND, VERSION)
        self.first_position = int(self._file.metadata[_FIRST])

    def part(self, band: int, part: int, parts: int) -> Run:
        """The hashes of a band that lie in the given one of equal parts of all that there can be."""
        batch = self._file.batch(band)
        hashes = batch.column("hash").to_numpy()
        bounds = [-(-_HASHES * each // parts) for each in (part, part + 1)]
        start = int(np.searchsorted(hashes, np.uint64(bounds[0])))
        stop = len(hashes) if bounds[1] == _HASHES else int(np.searchsorted(hashes, np.uint64(bounds[1])))
        further = batch.column("further").to_numpy() if "further" in batch.schema.names else np.zeros(0, np.uint64)
        return Run(hashes[start:stop], further[start:stop], batch.column("position").to_numpy()[start:stop])

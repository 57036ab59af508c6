"""Writing what a deduplicator takes away: one file a chunk, and documents and bytes by source and reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.dedup.sketches import SketchFile
from gristmill.formats import drops
from gristmill.formats.documents import read_batches

EARLIER = -1  # the survivor's key where the survivor is not among these documents
EXPECT_DUPLICATES_ABOVE_DOCS = 100_000
_ROW_MASK = (1 << 32) - 1

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ChunkPlace:
    """One chunk as a global step sees it."""

    source: str
    number: int  # within the source
    first: int  # the position of its first row: rows are counted from 1, over all chunks
    rows: int
    sketches: SketchFile


def keys_of(places: Sequence[ChunkPlace], positions: Rows) -> Rows:
    """Positions as keys, chunk << 32 | row; 0, which is no position, as EARLIER."""
    firsts = np.array([place.first for place in places])
    chunks = np.searchsorted(firsts, positions, side="right") - 1
    return np.where(positions == 0, EARLIER, chunks << 32 | positions - firsts[np.maximum(chunks, 0)])


class DropWriter:
    """Writes one unit's drops, chunk after chunk."""

    def __init__(
        self, folder: Path, unit: str, places: Sequence[ChunkPlace], documents: int, unknown: str | None = None
    ) -> None:
        """`documents`: how many there are. `unknown`: the kind of drops whose survivor is not known; else they are of
        earlier runs."""
        self._documents = documents
        self._folder = folder
        self._unit = unit
        self._places = places
        self._sources = sorted({place.source for place in places})
        self._kinds = [unit, unknown or f"{unit}.earlier"]
        self._chunk_source = np.array([self._sources.index(place.source) for place in places], np.int16)
        self._chunk_number = np.array([place.number for place in places], np.int32)
        self.files: list[str] = []
        self._dropped: dict[str, dict[str, int]] = {}
        self._dropped_bytes: dict[str, dict[str, int]] = {}

    def write_keyed(self, batches: Iterable[Any]) -> None:
        """Batches of (key, duplicate_of), ordered by key, as units resolve to."""
        held: list[Any] = []
        open_chunk = -1
        for batch in batches:
            keys = batch.column(0).to_numpy()
            cuts = [0, *(np.flatnonzero(np.diff(keys >> 32)) + 1), len(keys)]
            for start, stop in pairwise(cuts if len(keys) else []):
                if keys[start] >> 32 != open_chunk and held:
                    self._write_held(open_chunk, held)
                    held = []
                open_chunk = int(keys[start] >> 32)
                held.append(batch.slice(start, stop - start))
        if held:
            self._write_held(open_chunk, held)

    def _write_held(self, chunk: int, batches: list[Any]) -> None:
        keys, survivors = (np.concatenate([batch.column(at).to_numpy() for batch in batches]) for at in (0, 1))
        self.write(chunk, keys & _ROW_MASK, survivors)

    def write(self, chunk: int, rows: Rows, survivors: Rows) -> None:
        """The rows of a chunk that go, ascending, and the key of the document that stays for each, or EARLIER."""
        if not len(rows):
            return
        place = self._places[chunk]
        earlier = survivors == EARLIER
        known = np.where(earlier, 0, survivors)
        chunks = known >> 32
        batch = pa.record_batch(
            [
                pa.array(rows.astype(np.int32)),
                pa.array(np.array(self._kinds)[earlier.astype(np.int8)]).dictionary_encode(),
                pa.DictionaryArray.from_arrays(pa.array(self._chunk_source[chunks], mask=earlier), self._sources),
                pa.array(self._chunk_number[chunks], mask=earlier),
                pa.array((known & _ROW_MASK).astype(np.int32), mask=earlier),
            ],
            names=drops.SCHEMA.names,
        )
        path = f"{place.source}/{place.number:05}.parquet"
        drops.write(self._folder / path, batch)
        self.files.append(path)
        self._count(place, rows, earlier)

    def counts(self) -> dict[str, Any]:
        """For the record: documents and bytes by source and reason."""
        return {"dropped": self._dropped, "dropped_bytes": self._dropped_bytes}

    def notices(self) -> list[str]:
        """What people should know of the outcome."""
        if self.files or self._documents <= EXPECT_DUPLICATES_ABOVE_DOCS:
            return []
        found = f"`{self._unit}` found not one duplicate among {self._documents:,} documents"
        return [f"{found}: that is rare; does it look at the right text or column?"]

    def _count(self, place: ChunkPlace, rows: Rows, earlier: npt.NDArray[np.bool_]) -> None:
        batches = read_batches(Path(place.sketches.sketches), ["bytes"])
        of_row = np.concatenate([batch.column(0).fill_null(0).to_numpy() for batch in batches])[rows]
        for kind, which in zip(self._kinds, (~earlier, earlier), strict=True):
            if which.any():
                for table, amount in ((self._dropped, which.sum()), (self._dropped_bytes, of_row[which].sum())):
                    counts = table.setdefault(place.source, {})
                    counts[kind] = counts.get(kind, 0) + int(amount)

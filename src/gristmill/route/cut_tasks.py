"""Deduplicators that cut, as tasks: find things in a chunk, compare a range of all chunks' things, cut a chunk.

Files, beside the record of the task that wrote them (the names are constants below). Each is left out where it would
be empty, but for what `find` found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.dedup import occurrences
from gristmill.dedup.cutting import NONE, cut_chunk, found_in_chunk
from gristmill.dedup.occurrences import I64, Occurrences, Partition
from gristmill.engine.step import Outcome
from gristmill.formats import cuts, drops, number_columns
from gristmill.formats.cuts import Cuts
from gristmill.formats.number_columns import OCCURRENCES, PLACES, SEEN
from gristmill.route.survivors import ChunkFiles, surviving
from gristmill.units import Choice

FOUND, REPEATED, EXAMINED = "{}.found.arrow", "{}.repeated.arrow", "{}.examined.arrow"
NEW = "{}.new.arrow"
CUTS, DROPS = "{}.cuts.parquet", "{}.drops.parquet"
COUNTS = ("documents", "bytes", "cut_documents", "cut_bytes", "too_short", "too_short_bytes")


@dataclass(frozen=True)
class FindWork:
    """One chunk, one round."""

    unit: Choice
    turn: int
    chunk: ChunkFiles
    position: int  # among all chunks
    examined: tuple[str, ...]  # files of PLACES of all chunks


@dataclass(frozen=True)
class CompareWork:
    """One range of hashes, all chunks in order."""

    found: tuple[str, ...]  # a file of OCCURRENCES for each chunk
    partition: Partition
    earlier: tuple[str, ...] | None  # files of SEEN, of earlier runs; None: nothing is remembered


@dataclass(frozen=True)
class CutWork:
    """One chunk after all rounds."""

    name: str  # of the unit in this recipe
    unit: Choice
    chunk: ChunkFiles
    source: str
    number: int
    position: int
    repeated: tuple[str, ...]  # files of PLACES: the chunk's own, and those of all chunks


def find(work: FindWork, folder: Path, stem: str) -> Outcome:
    """The task: one round over one chunk."""
    unit = work.unit.make("deduplicator")
    examined = number_columns.read_places(work.examined, work.position) if work.turn else NONE
    counts: dict[str, Any] = {"things": 0, "repeated": 0, "samples": []}
    repeated: list[I64] = []

    def things() -> Iterator[Occurrences]:
        for run in found_in_chunk(unit, work.turn, _texts(work.chunk), examined):
            counts["things"] += len(run.things.low)
            counts["repeated"] += len(run.repeated)
            counts["samples"] += occurrences.samples(run.things)
            repeated.append(run.repeated)
            yield run.things

    written = [FOUND.format(stem)]
    number_columns.write(folder / written[0], OCCURRENCES, things() if work.turn == 0 or len(examined) else ())
    if counts["repeated"]:
        written.append(REPEATED.format(stem))
        places = np.sort(np.concatenate(repeated))
        number_columns.write(folder / written[1], PLACES, [(np.full(len(places), work.position, np.int32), places)])
    return Outcome(counts, written)


def compare(work: CompareWork, folder: Path, stem: str) -> Outcome:
    """The task: which things of a range occur before."""
    chunks = ([Occurrences(*run) for run in number_columns.read(path, OCCURRENCES)] for path in work.found)
    resolved = occurrences.resolve(chunks, work.partition, seen_runs(work.earlier or ()))
    written = []
    for name, places in ((REPEATED, resolved.repeated), (EXAMINED, resolved.examined)):
        if len(places.place):
            written.append(name.format(stem))
            number_columns.write(folder / written[-1], PLACES, [places])
    if work.earlier is not None:
        written.append(NEW.format(stem))
        number_columns.write(folder / written[-1], SEEN, [resolved.new])
    counts = {"repeated": len(resolved.repeated.place), "examined": len(resolved.examined.place)}
    return Outcome({**counts, "new": len(resolved.new[0])}, written)


def seen_runs(paths: Iterable[str]) -> list[Occurrences]:
    """What earlier runs saw."""
    return [occurrences.seen_before(*run) for path in paths for run in number_columns.read(path, SEEN)]


def cut(work: CutWork, folder: Path, stem: str) -> Outcome:
    """The task: one chunk's cuts, and the documents that go with them."""
    unit = work.unit.make("deduplicator")
    counts = dict.fromkeys(COUNTS, 0)
    found: list[Cuts] = []
    gone: list[npt.NDArray[np.int32]] = []
    rows: list[npt.NDArray[np.int32]] = []

    def texts() -> Iterator[Any]:
        for batch in surviving(work.chunk, ["text"]):
            rows.append(batch.column("row").to_numpy())
            counts["documents"] += len(batch)
            counts["bytes"] += _bytes(batch.column("text"))
            yield batch.column("text")

    for batch in cut_chunk(unit, texts(), number_columns.read_places(work.repeated, work.position)):
        of_batch = rows.pop()
        found.append(batch.cuts._replace(row=of_batch[batch.cuts.row]))
        gone.append(of_batch[batch.too_short])
        counts["too_short_bytes"] += batch.too_short_bytes
    all_cuts, all_gone = cuts.joined(found), np.concatenate([np.zeros(0, np.int32), *gone])
    counts["cut_documents"], counts["cut_bytes"] = len(np.unique(all_cuts.row)), all_cuts.bytes()
    counts["too_short"] = len(all_gone)
    written = []
    if len(all_cuts.row):
        written.append(CUTS.format(stem))
        cuts.write(folder / written[-1], all_cuts)
    if len(all_gone):
        written.append(DROPS.format(stem))
        drops.write(folder / written[-1], _drops(all_gone, f"{work.name}.too_short", work))
    return Outcome(counts, written)


def _texts(chunk: ChunkFiles) -> Iterator[Any]:
    return (batch.column("text") for batch in surviving(chunk, ["text"]))


def _bytes(texts: Any) -> int:
    return int(pc.sum(pc.binary_length(texts)).as_py() or 0)


def _drops(rows: npt.NDArray[np.int32], kind: str, work: CutWork) -> Any:
    """The columns of drops.SCHEMA: these documents go for their own sake."""
    none = np.zeros(len(rows), np.int16)
    return pa.record_batch(
        [
            pa.array(rows),
            pa.DictionaryArray.from_arrays(pa.array(none.astype(np.int8)), [kind]),
            pa.DictionaryArray.from_arrays(pa.array(none), [work.source]),
            pa.array(np.full(len(rows), work.number, np.int32)),
            pa.array(rows),
        ],
        names=drops.SCHEMA.names,
    )

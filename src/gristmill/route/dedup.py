"""dedup: sketches → which documents go, and for whose sake. One step a deduplicator, over all sources at once.

The lowest key survives, keys being ordered by source, chunk and row: the same answer for any worker count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.dedup.grouping import SketchFile
from gristmill.engine.record import WrittenFile
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats import drops
from gristmill.formats.files import scratch_folder
from gristmill.route.survivors import SiftedChunk
from gristmill.units import Choice

VERSION = 1


@dataclass(frozen=True)
class DedupWork:
    """All chunks in source order, and what the global step may use."""

    unit: Choice
    chunks: tuple[tuple[str, int, str, str], ...]  # source, number, paths of signals and verdicts
    memory_bytes: int
    threads: int


def of_sift(chunks: Sequence[SiftedChunk]) -> list[tuple[str, WrittenFile]]:
    """Where sift laid the sketches of each chunk: its step and the file."""
    return [(f"sift/{chunk.source}", chunk.sifted.file(f"{chunk.stem}.signals.parquet")) for chunk in chunks]


def step(
    unit: Choice,
    chunks: Sequence[SiftedChunk],
    sketches: Sequence[tuple[str, WrittenFile]],
    memory_bytes: int,
    threads: int,
    reads: tuple[Step, ...],
) -> Step:
    """The step of one deduplicator, from the sketches of each chunk."""
    signals = [file for _, file in sketches]
    places = tuple(
        (chunk.source, chunk.number, str(chunk.output / step_name / file.path), chunk.files().verdicts)
        for chunk, (step_name, file) in zip(chunks, sketches, strict=True)
    )
    sums = [
        [chunk.source, file.checksum, chunk.judged.files[0].checksum]
        for chunk, file in zip(chunks, signals, strict=True)
    ]
    work = DedupWork(unit, places, memory_bytes, threads)
    task = Task("drops", {"chunks": sums}, work, bytes=sum(file.bytes for file in signals))
    literals = {"deduplicator": unit.literals("deduplicator")}
    return Step(f"dedup/{unit.name}", "gristmill.route.dedup:run", VERSION, literals, [task], reads, reads[0].meanwhile)


def run(work: DedupWork, folder: Path, stem: str) -> Outcome:
    """The task: resolve all sketches, write one file of drops for each chunk that has any."""
    unit = work.unit.make("deduplicator")
    sources = sorted({source for source, *_ in work.chunks})
    by_source: Counter[str] = Counter()
    made: list[str] = []

    def close(chunk: int, batches: list[Any]) -> None:
        source, number, *_ = work.chunks[chunk]
        columns = pa.Table.from_batches(batches).combine_chunks()
        path = f"{source}/{number:05}.parquet"
        drops.write(folder / path, _drops(columns, work, unit.NAME, sources))
        by_source[source] += len(columns)
        made.append(path)

    with scratch_folder(folder) as scratch:
        sketches = [SketchFile(signals, verdicts, chunk) for chunk, (_, _, signals, verdicts) in enumerate(work.chunks)]
        open_chunk, held = -1, list[Any]()
        for batch in unit.resolve(sketches, scratch, work.memory_bytes, work.threads):
            keys = batch.column(0).to_numpy() >> 32
            cuts = [0, *(np.flatnonzero(np.diff(keys)) + 1), len(keys)]
            for start, stop in pairwise(cuts):
                if start == stop:
                    continue
                if keys[start] != open_chunk and held:
                    close(open_chunk, held)
                    held = []
                open_chunk = int(keys[start])
                held.append(batch.slice(start, stop - start))
        if held:
            close(open_chunk, held)
    return Outcome({"dropped": dict(by_source)}, made)


def _drops(columns: Any, work: DedupWork, kind: str, sources: list[str]) -> Any:
    """(key, duplicate_of) → the columns of drops.SCHEMA."""
    keys, survivors = columns.column("key").to_numpy(), columns.column("duplicate_of").to_numpy()
    chunk_source = np.array([sources.index(source) for source, *_ in work.chunks], np.int16)
    chunk_number = np.array([number for _, number, *_ in work.chunks], np.int32)
    survivor_chunks = survivors >> 32
    row_mask = (1 << 32) - 1
    return pa.record_batch(
        [
            pa.array((keys & row_mask).astype(np.int32)),
            pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(keys), np.int8)), [kind]),
            pa.DictionaryArray.from_arrays(pa.array(chunk_source[survivor_chunks]), sources),
            pa.array(chunk_number[survivor_chunks]),
            pa.array((survivors & row_mask).astype(np.int32)),
        ],
        names=drops.SCHEMA.names,
    )

"""dedup: sketches → which documents go, and for whose sake. Deduplicators in the order of the recipe, each over all
sources at once, each seeing only documents that the ones before it left.

A deduplicator by hashes (it has `bands`) takes three steps, so that a kill costs one task and not the group-by:
    dedup/UNIT.sorted   a task a stretch of chunks: sketches → sorted runs of hashes
    dedup/UNIT.pairs    a task a band and a part of all hashes: runs → pairs of documents
    dedup/UNIT          one task: pairs → clusters → drops
Any other is one task, which calls its `resolve`. The same answer for any worker count, chunk size and memory.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gristmill.dedup import sequence
from gristmill.dedup.sketches import SketchFile
from gristmill.engine.ledger import Entry, Ledger
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats.files import scratch_folder
from gristmill.recipe import Recipe
from gristmill.route import dedup_hashes
from gristmill.route.drop_files import ChunkPlace, DropWriter
from gristmill.route.survivors import SiftedChunk
from gristmill.units import Choice

VERSION = 2
EXPECT_DUPLICATES_FROM_DOCS = 100_000

DedupSteps = Generator[list[Step], list[list[Record]], tuple[Step, ...]]


def steps_of(
    recipe: Recipe, output: Path, chunks: Sequence[SiftedChunk], upstream: tuple[Step, ...], workers: int,
    ledger: Ledger,
) -> DedupSteps:  # fmt: skip
    """Follow all deduplicators; the chunks learn their drops. Returns the steps that whoever comes next reads."""
    units = sequence.named([choice.make("deduplicator") for choice in recipe.dedup])
    for choice, (name, unit) in zip(recipe.dedup, units, strict=True):
        places = _places(chunks, name)
        sums = [_checksums(chunk) for chunk in chunks]
        if hasattr(unit, "bands"):
            sorted_step = dedup_hashes.sort_step(f"dedup/{name}.sorted", choice, places, sums, upstream)
            [runs] = yield [sorted_step]
            paired = dedup_hashes.pair_step(f"dedup/{name}.pairs", output, choice, sorted_step, runs, [])
            [found] = yield [paired]
            step = dedup_hashes.cluster_step(
                f"dedup/{name}", name, choice, output, places, sums, paired, found, upstream
            )
        else:
            memory_bytes = recipe.engine.memory // 2
            step = _resolve_step(f"dedup/{name}", name, choice, places, sums, memory_bytes, workers, upstream)
        [[record]] = yield [step]
        upstream = (*upstream, step)
        by_place = {f"{chunk.source}/{chunk.stem}.parquet": chunk for chunk in chunks}
        for file in record.files:
            by_place[file.path].drops.append((step.name, file))
        for source in recipe.sources:
            _enter(ledger, source.name, record)
    if recipe.dedup:
        ledger.require_some("dedup")
    return upstream


def _enter(ledger: Ledger, source: str, record: Record) -> None:
    entered = ledger.left(source, "documents")
    gone = record.counts["dropped"].get(source, {})
    details = {"gone_bytes": record.counts["dropped_bytes"].get(source, {})}
    ledger.add(Entry("dedup", source, "documents", entered, entered - sum(gone.values()), dict(gone), details))


def _places(chunks: Sequence[SiftedChunk], unit: str) -> list[ChunkPlace]:
    places = []
    first = 1
    for position, chunk in enumerate(chunks):
        files = chunk.files()
        signals = chunk.sifted.file(f"{chunk.stem}.signals.parquet")
        path = str(chunk.output / "sift" / chunk.source / signals.path)
        rows = int(chunk.sifted.counts["rows"])
        sketches = SketchFile(path, files.verdicts, position, unit, files.drops)
        places.append(ChunkPlace(chunk.source, chunk.number, first, rows, sketches))
        first += rows
    return places


def _checksums(chunk: SiftedChunk) -> list[Any]:
    signals = chunk.sifted.file(f"{chunk.stem}.signals.parquet")
    drops = [file.checksum for _, file in chunk.drops]
    return [chunk.source, signals.checksum, chunk.judged.files[0].checksum, *drops]


@dataclass(frozen=True)
class ResolveWork:
    """All chunks, and what a step that cannot be cut may use."""

    choice: Choice
    unit: str
    places: tuple[ChunkPlace, ...]
    memory_bytes: int
    threads: int


def _resolve_step(
    name: str, unit: str, choice: Choice, places: Sequence[ChunkPlace], sums: Sequence[Any], memory_bytes: int,
    threads: int, reads: tuple[Step, ...],
) -> Step:  # fmt: skip
    work = ResolveWork(choice, unit, tuple(places), memory_bytes, max(threads, 1))
    sketch_bytes = sum(Path(place.sketches.sketches).stat().st_size for place in places)
    task = Task("drops", {"chunks": list(sums)}, work, bytes=sketch_bytes)
    literals = {"unit": unit, "deduplicator": choice.literals("deduplicator")}
    return Step(name, "gristmill.route.dedup:resolve", VERSION, literals, [task], reads, reads[0].meanwhile)


def resolve(work: ResolveWork, folder: Path, stem: str) -> Outcome:
    """The task of a deduplicator without bands: resolve all sketches, write one file of drops for each chunk that has
    any."""
    writer = DropWriter(folder, work.unit, work.places)
    sketches = [place.sketches for place in work.places]
    with scratch_folder(folder) as scratch:
        unit = work.choice.make("deduplicator")
        writer.write_keyed(unit.resolve(sketches, scratch, work.memory_bytes, work.threads))
    return Outcome({"dropped": writer.dropped, "dropped_bytes": writer.dropped_bytes}, writer.files)

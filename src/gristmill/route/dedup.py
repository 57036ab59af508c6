"""dedup: sketches → which documents go, and for whose sake. Deduplicators in the order of the recipe, each over all
sources at once, each seeing only documents that the ones before it left.

A deduplicator by hashes (it has `bands`) takes three steps, so that a kill costs one task and not the group-by:
    dedup/UNIT.sorted   a task a stretch of chunks: sketches → sorted runs of hashes
    dedup/UNIT.pairs    a task a band and a part of all hashes: runs → pairs of documents
    dedup/UNIT          one task: pairs → clusters → drops
Where candidates are compared, more lie before the last (dedup_confirm.py); where an index is kept, one follows it:
    dedup/UNIT.index    a task a stretch of chunks: sketches of what is left → what goes into the index at the end
One that cuts takes those of cut_dedup.py, and whoever comes after it sees the text that is left: its sketches are not
sift's, but made anew (sketch.py). Any other deduplicator is one task, which calls its `resolve`. The same answer for
any worker count, chunk size and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from gristmill.dedup import sequence
from gristmill.dedup.sketches import SketchFile
from gristmill.engine.ledger import Entry, Ledger
from gristmill.engine.record import Record, WrittenFile
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats.files import scratch_folder
from gristmill.recipe import Recipe
from gristmill.route import cut_dedup, dedup_bloom, dedup_confirm, dedup_hashes, sketch
from gristmill.route.dedup_index import Remembered, compares
from gristmill.route.drop_files import ChunkPlace, DropWriter
from gristmill.route.survivors import SiftedChunk
from gristmill.units import Choice, cuts

VERSION = 2

Sketches = Sequence[tuple[str, WrittenFile]]  # of each chunk: the step whose folder the file lies in, and the file
UnitSteps = Generator[list[Step], list[list[Record]], tuple[Step, Record]]


@dataclass(frozen=True)
class Deduplicated:
    """What all deduplicators leave behind."""

    reads: tuple[Step, ...]  # whoever comes next opens their files
    publish: tuple[Callable[[], None], ...]  # called when the whole run has ended well


def steps_of(
    recipe: Recipe, output: Path, chunks: Sequence[SiftedChunk], upstream: tuple[Step, ...], workers: int,
    ledger: Ledger,
) -> Generator[list[Step], list[list[Record]], Deduplicated]:  # fmt: skip
    """Follow all deduplicators; the chunks learn their drops."""
    units = sequence.named([choice.make("deduplicator") for choice in recipe.dedup])
    publish: list[Callable[[], None]] = []
    sketches = [(f"sift/{chunk.source}", chunk.sifted.file(f"{chunk.stem}.signals.parquet")) for chunk in chunks]
    has_cut = False
    for choice, (name, unit) in zip(recipe.dedup, units, strict=True):
        if cuts(choice):
            upstream, added = yield from cut_dedup.steps_of(name, choice, chunks, upstream, ledger)
            publish += added
            has_cut = True
            continue
        if has_cut:
            made = sketch.steps(name, choice, chunks, upstream)
            records = yield made
            sketches = [(step.name, each.files[0]) for step, of in zip(made, records, strict=True) for each in of]
            upstream = (*upstream, *made)
        documents = sum(ledger.left(source.name, "documents") for source in recipe.sources)
        turn = _Turn(recipe, output, choice, name, unit, chunks, sketches, documents, upstream, max(workers, 1))
        step, record = yield from turn.steps()
        upstream = (*upstream, step)
        by_place = {f"{chunk.source}/{chunk.stem}.parquet": chunk for chunk in chunks}
        for file in record.files:
            if (chunk := by_place.get(file.path)) is not None:
                chunk.drops.append((step.name, file))
        if turn.remembered:
            publish.append((yield from turn.remember(record)))
        for source in recipe.sources:
            _enter(ledger, source.name, record)
    if recipe.dedup:
        ledger.require_some("dedup")
    return Deduplicated(upstream, tuple(publish))


class _Turn:
    """One deduplicator's turn."""

    def __init__(
        self, recipe: Recipe, output: Path, choice: Choice, name: str, unit: Any, chunks: Sequence[SiftedChunk],
        sketches: Sketches, documents: int, upstream: tuple[Step, ...], workers: int,
    ) -> None:  # fmt: skip
        self.recipe, self.output, self.choice, self.name, self.unit = recipe, output, choice, name, unit
        self.chunks, self.sketches, self.documents, self.upstream, self.workers = (
            chunks, sketches, documents, upstream, workers
        )  # fmt: skip
        self.places = _places(chunks, sketches, name)
        self.sums = _checksums(chunks, sketches)
        self.remembered = Remembered(choice, output, self.sums)

    def steps(self) -> UnitSteps:
        """The steps that lead to its drops; the last of them and its record."""
        if hasattr(self.unit, "bands"):
            step = yield from self._by_hashes()
        elif hasattr(self.unit, "filter_bits"):
            step = dedup_bloom.step(
                f"dedup/{self.name}", self.name, self.choice, self.places, self.sums, self.recipe.engine.memory,
                self.documents, self.remembered, self.upstream,
            )  # fmt: skip
            step = replace(step, parent_opens=bool(self.remembered))
        else:
            step = self._whole()
        [[record]] = yield [step]
        return step, record

    def _by_hashes(self) -> Generator[list[Step], list[list[Record]], Step]:
        name, choice, places, sums = f"dedup/{self.name}", self.choice, self.places, self.sums
        sorted_step = dedup_hashes.sort_step(f"{name}.sorted", choice, places, sums, self.upstream)
        [runs] = yield [sorted_step]
        earlier, apart = self.remembered.earlier(), compares(self.unit)
        paired = dedup_hashes.pair_step(f"{name}.pairs", self.output, choice, sorted_step, runs, earlier, apart)
        [found] = yield [paired]
        if not apart:
            return dedup_hashes.cluster_step(
                name, self.name, choice, self.output, places, sums, self.documents, paired, found, self.upstream
            )
        candidates = dedup_confirm.candidate_step(f"{name}.candidates", self.output, places, paired, found)
        [[members]] = yield [candidates]
        sets = dedup_confirm.set_step(
            f"{name}.sets", choice, self.output, self.chunks, places, candidates, members, self.upstream
        )
        [of_chunks] = yield [sets]
        return dedup_confirm.confirm_step(
            name, self.name, choice, self.output, places, sums, self.documents, candidates, members, sets, of_chunks,
            self.remembered.earlier_sets(), self.upstream,
        )  # fmt: skip

    def _whole(self) -> Step:
        memory_bytes = self.recipe.engine.memory // 2
        work = ResolveWork(self.choice, self.name, tuple(self.places), self.documents, memory_bytes, self.workers)
        sketch_bytes = sum(file.bytes for _, file in self.sketches)
        task = Task("drops", {"chunks": list(self.sums)}, work, bytes=sketch_bytes)
        literals = {"unit": self.name, "deduplicator": self.choice.literals("deduplicator")}
        reads = self.upstream
        return Step(f"dedup/{self.name}", "gristmill.route.dedup:resolve", VERSION, literals, [task], reads,
                    reads[0].meanwhile)  # fmt: skip

    def remember(self, record: Record) -> Generator[list[Step], list[list[Record]], Callable[[], None]]:
        """What adds the documents that are left to the index. `record`: of the step that wrote the drops."""
        folder = self.output / "dedup"
        if hasattr(self.unit, "filter_bits"):
            file = folder / self.name / dedup_bloom.FILTER_FILE
            return partial(self.remembered.publish, [(file, int(record.counts["documents"]))])
        left = _places(self.chunks, self.sketches, self.name)
        sums = _checksums(self.chunks, self.sketches)
        step = dedup_hashes.sort_step(f"dedup/{self.name}.index", self.choice, left, sums, self.upstream)
        step = replace(step, parent_opens=True)
        [records] = yield [step]
        files = [
            (folder / f"{self.name}.index" / each.files[0].path, int(each.counts["documents"])) for each in records
        ]
        if compares(self.unit):
            sets = dedup_confirm.index_set_step(
                f"dedup/{self.name}.index_sets", self.choice, self.chunks, left, self.upstream
            )
            [records] = yield [replace(sets, parent_opens=True)]
            files += [(folder / f"{self.name}.index_sets" / each.files[0].path, int(each.counts["sets"]))
                      for each in records]  # fmt: skip
        return partial(self.remembered.publish, files)


def _enter(ledger: Ledger, source: str, record: Record) -> None:
    entered = ledger.left(source, "documents")
    gone = record.counts["dropped"].get(source, {})
    details = {"gone_bytes": record.counts["dropped_bytes"].get(source, {})}
    ledger.add(Entry("dedup", source, "documents", entered, entered - sum(gone.values()), dict(gone), details))


def _places(chunks: Sequence[SiftedChunk], sketches: Sketches, unit: str) -> list[ChunkPlace]:
    places = []
    first = 1
    for position, (chunk, (step_name, file)) in enumerate(zip(chunks, sketches, strict=True)):
        files = chunk.files()
        rows = int(chunk.sifted.counts["rows"])
        path = str(chunk.output / step_name / file.path)
        places.append(
            ChunkPlace(
                chunk.source, chunk.number, first, rows, SketchFile(path, files.verdicts, position, unit, files.drops)
            )
        )
        first += rows
    return places


def _checksums(chunks: Sequence[SiftedChunk], sketches: Sketches) -> list[Any]:
    return [
        [chunk.source, file.checksum, chunk.judged.files[0].checksum, *(drop.checksum for _, drop in chunk.drops)]
        for chunk, (_, file) in zip(chunks, sketches, strict=True)
    ]


@dataclass(frozen=True)
class ResolveWork:
    """All chunks, and what a step that cannot be cut may use."""

    choice: Choice
    unit: str
    places: tuple[ChunkPlace, ...]
    documents: int
    memory_bytes: int
    threads: int


def resolve(work: ResolveWork, folder: Path, stem: str) -> Outcome:
    """The task of a deduplicator without bands: resolve all sketches, write one file of drops for each chunk that has
    any."""
    writer = DropWriter(folder, work.unit, work.places, work.documents)
    sketches = [place.sketches for place in work.places]
    with scratch_folder(folder) as scratch:
        unit = work.choice.make("deduplicator")
        writer.write_keyed(unit.resolve(sketches, scratch, work.memory_bytes, work.threads))
    return Outcome(writer.counts(), writer.files, writer.notices())

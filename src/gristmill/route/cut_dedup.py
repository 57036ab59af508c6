"""Deduplicators that cut, as steps: surviving texts → cuts, and which documents go as too little of them is left.

For each round of the unit two kinds of steps: `dedup/UNIT.ROUND/SOURCE` finds things in each chunk's surviving text (a
task a chunk), `dedup/UNIT.ROUND` compares those of all chunks (a task a range of hashes; how many follows from what
was found, never from memory or workers). Then `dedup/UNIT/SOURCE` writes each chunk's cuts and drops. So a kill costs
the tasks at work, and memory is that of one batch, one run or one range.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gristmill.dedup import occurrences
from gristmill.engine.ledger import Entry, Ledger, total
from gristmill.engine.record import Record, WrittenFile
from gristmill.engine.step import Step, Task
from gristmill.route.cut_tasks import (
    COUNTS,
    CUTS,
    DROPS,
    EXAMINED,
    FOUND,
    NEW,
    REPEATED,
    CompareWork,
    CutWork,
    FindWork,
    seen_runs,
)
from gristmill.route.dedup_index import Remembered
from gristmill.route.survivors import SiftedChunk
from gristmill.units import Choice

VERSION = 1
Files = Sequence[tuple[str, WrittenFile]]  # the step whose folder it lies in, and the file


def steps_of(
    name: str, unit: Choice, chunks: Sequence[SiftedChunk], upstream: tuple[Step, ...], ledger: Ledger
) -> Generator[list[Step], list[list[Record]], tuple[tuple[Step, ...], list[Callable[[], None]]]]:
    """Carry out one unit, which is called `name` in this recipe: yields its steps, adds to the ledger and to the
    chunks; returns what later steps read, and what adds to its index, if it has one, at the end of the run."""
    rounds = unit.make("deduplicator").ROUNDS
    output = chunks[0].output
    inputs = [chunk.inputs() for chunk in chunks]
    remembered = Remembered(unit, output, inputs)
    parameters = unit.literals("deduplicator")
    parameters.pop("index", None)  # its content counts, not where it lies
    literals = {"deduplicator": parameters}
    examined: Files = ()
    compared: list[tuple[str, WrittenFile]] = []
    own: list[list[tuple[str, WrittenFile]]] = [[] for _ in chunks]
    for turn, round_name in enumerate(rounds):
        to_find = [
            FindWork(unit, turn, chunk.files(), position, _paths(output, examined))
            for position, chunk in enumerate(chunks)
        ]
        given = [{**what, "examined": _sums(examined)} for what in inputs]
        of_round = {**literals, "round": round_name}
        find = _step_a_source(f"dedup/{name}.{round_name}", "find", of_round, chunks, given, to_find, upstream)
        found = yield find
        records = [record for of_source in found for record in of_source]
        for chunk, record, files in zip(chunks, records, own, strict=True):
            step_name = f"dedup/{name}.{round_name}/{chunk.source}"
            files += _named(step_name, [record], REPEATED)
        compare = _compare_step(f"dedup/{name}.{round_name}", chunks, records, tuple(find), remembered)
        compare = replace(compare, parent_opens=bool(remembered))
        [partitions] = yield [compare]
        compared += _named(compare.name, partitions, REPEATED)
        examined = _named(compare.name, partitions, EXAMINED)
        upstream = (*upstream, *find, compare)

    to_cut = [
        CutWork(name, unit, chunk.files(), chunk.source, chunk.number, position, _paths(output, [*files, *compared]))
        for position, (chunk, files) in enumerate(zip(chunks, own, strict=True))
    ]
    given = [{**what, "repeated": _sums([*files, *compared])} for what, files in zip(inputs, own, strict=True)]
    cut_steps = _step_a_source(f"dedup/{name}", "cut", literals, chunks, given, to_cut, upstream)
    cut_records = yield cut_steps
    _attach(f"dedup/{name}", chunks, [record for of_source in cut_records for record in of_source])
    for source, of_source in zip(dict.fromkeys(chunk.source for chunk in chunks), cut_records, strict=True):
        ledger.add(_entry(name, source, of_source))
    publish: list[Callable[[], None]] = []
    if remembered:
        new = [(output / compare.name / record.file(NEW.format(task.name)).path, int(record.counts["new"]))
               for task, record in zip(compare.tasks, partitions, strict=True)]  # fmt: skip
        publish.append(partial(remembered.publish, new))
    return (*upstream, *cut_steps), publish


def _step_a_source(
    name: str,
    function: str,
    literals: dict[str, Any],
    chunks: Sequence[SiftedChunk],
    inputs: Sequence[dict[str, Any]],
    work: Sequence[Any],
    reads: tuple[Step, ...],
) -> list[Step]:
    """The steps of a function that has a task for each chunk, one step a source, in the order of the chunks."""
    tasks: dict[str, list[Task]] = {}
    for chunk, given, todo in zip(chunks, inputs, work, strict=True):
        task = Task(chunk.stem, given, todo, bytes=int(chunk.judged.counts["kept_bytes"]))
        tasks.setdefault(chunk.source, []).append(task)
    return [
        Step(f"{name}/{source}", f"gristmill.route.cut_tasks:{function}", VERSION, literals, of_source, reads)
        for source, of_source in tasks.items()
    ]


def _compare_step(
    name: str, chunks: Sequence[SiftedChunk], found: Sequence[Record], reads: tuple[Step, ...], remembered: Remembered
) -> Step:
    """The step that compares what was found in all chunks."""
    files = [
        (f"{name}/{chunk.source}", record.file(FOUND.format(chunk.stem)))
        for chunk, record in zip(chunks, found, strict=True)
    ]
    sampled = [tuple(sample) for record in found for sample in record.counts["samples"]]
    earlier = remembered.earlier()
    earlier_paths = tuple(file.path for file in earlier)
    sampled += [sample for run in seen_runs(earlier_paths) for sample in occurrences.samples(run)]
    given: dict[str, Any] = {"earlier": [file.checksum for file in earlier]} if remembered else {}
    parts = occurrences.partitions(sampled)
    paths, sums = _paths(chunks[0].output, files), _sums(files)
    input_bytes = sum(file.bytes for _, file in files) // len(parts)
    tasks = [
        Task(
            f"{number:05}",
            {"found": sums, "partition": part, **given},
            CompareWork(paths, part, earlier_paths if remembered else None),
            bytes=input_bytes,
        )
        for number, part in enumerate(parts)
    ]
    return Step(name, "gristmill.route.cut_tasks:compare", VERSION, {}, tasks, reads)


def _attach(step_name: str, chunks: Sequence[SiftedChunk], records: Sequence[Record]) -> None:
    """Let the chunks know what is to be cut from them, and what goes."""
    for chunk, record in zip(chunks, records, strict=True):
        chunk.cuts += _named(f"{step_name}/{chunk.source}", [record], CUTS)
        chunk.drops += _named(f"{step_name}/{chunk.source}", [record], DROPS)


def _entry(unit: str, source: str, records: Sequence[Record]) -> Entry:
    """A source's account: documents that go, and bytes that are cut from those that stay."""
    counts = {**dict.fromkeys(COUNTS, 0), **total(record.counts for record in records)}
    entered, gone = counts.pop("documents"), counts.pop("too_short")
    return Entry("dedup", source, "documents", entered, entered - gone, {f"{unit}.too_short": gone}, counts)


def _named(step_name: str, records: Sequence[Record], name: str) -> list[tuple[str, WrittenFile]]:
    """The files that are called so, whatever task they are of."""
    ending = name.removeprefix("{}")
    return [(step_name, file) for record in records for file in record.files if file.path.endswith(ending)]


def _paths(output: Path, files: Files) -> tuple[str, ...]:
    return tuple(str(output / step_name / file.path) for step_name, file in files)


def _sums(files: Files) -> list[str]:
    return [file.checksum for _, file in files]

"""The steps of a deduplicator that compares its candidates, between pairs and drops. See route/dedup.py.

dedup/UNIT.candidates  one task: pairs → members of clusters
dedup/UNIT.sets        a task a chunk: members' texts → their sets of n-grams
dedup/UNIT             one task: members and sets → drops
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.dedup.survivor import rank_signal
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats import pairs, shingle_sets
from gristmill.formats.files import scratch_folder
from gristmill.formats.pairs import Positions
from gristmill.route.dedup_hashes import cluster_counts, clusters_of, pair_files, ranks_of
from gristmill.route.drop_files import ChunkPlace, DropWriter, keys_of
from gristmill.route.survivors import ChunkFiles, SiftedChunk, surviving
from gristmill.units import Choice

VERSION = 1
_MEMBERS = "members.arrow"


@dataclass(frozen=True)
class CandidateWork:
    """All pairs."""

    pairs: tuple[str, ...]
    places: tuple[ChunkPlace, ...]


def candidate_step(
    name: str, output: Path, places: Sequence[ChunkPlace], paired: Step, records: Sequence[Record]
) -> Step:
    """The step that says which documents are to be compared."""
    paths, inputs, size_bytes = pair_files(output, paired, records)
    work = CandidateWork(paths, tuple(places))
    rows = [place.rows for place in places]
    task = Task("members", {"pairs": inputs, "rows": rows}, work, bytes=size_bytes)
    function = "gristmill.route.dedup_confirm:find_candidates"
    return Step(name, function, VERSION, {}, [task], (paired,), paired.meanwhile)


def find_candidates(work: CandidateWork, folder: Path, stem: str) -> Outcome:
    """The task: the members of clusters behind their roots, in order, a batch a chunk."""
    with scratch_folder(folder) as scratch:
        clusters = clusters_of(work.pairs, work.places, scratch)
        members = (clusters.members(place.first, place.rows) for place in work.places)
        count = pairs.write_batches(folder / _MEMBERS, ((roots, positions) for positions, roots in members))
    return Outcome({"members": count}, [_MEMBERS])


@dataclass(frozen=True)
class SetWork:
    """One chunk, and who is a member."""

    unit: Choice
    place: ChunkPlace
    chunk: ChunkFiles
    members: str


def set_step(
    name: str, choice: Choice, output: Path, chunks: Sequence[SiftedChunk], places: Sequence[ChunkPlace],
    candidates: Step, record: Record, reads: tuple[Step, ...],
) -> Step:  # fmt: skip
    """The step that reads the candidates' texts."""
    [file] = record.files
    path = str(output / candidates.name / file.path)
    tasks = [
        Task(
            f"{number:05}",
            {"chunk": chunk.inputs(), "first": place.first, "members": file.checksum},
            SetWork(choice, place, chunk.files(), path),
            bytes=int(chunk.judged.counts["kept_bytes"]),
        )
        for number, (chunk, place) in enumerate(zip(chunks, places, strict=True))
    ]
    literals = {"sketches": choice.sketching_literals()}
    function = "gristmill.route.dedup_confirm:make_sets"
    return Step(name, function, VERSION, literals, tasks, (*reads, candidates), candidates.meanwhile)


def make_sets(work: SetWork, folder: Path, stem: str) -> Outcome:
    """The task: the sets of n-grams of one chunk's members."""
    unit = work.unit.make("deduplicator")
    first = work.place.first
    wanted = np.zeros(work.place.rows, np.bool_)
    wanted[pairs.read_batch(work.members, work.place.sketches.chunk)[1] - first] = True

    def sets() -> Iterator[shingle_sets.Sets]:
        for batch in surviving(work.chunk, ["text"]) if wanted.any() else ():
            chosen = np.flatnonzero(wanted[batch.column("row").to_numpy()])
            if len(chosen):
                some = batch.take(chosen)
                yield first + some.column("row").to_numpy().astype(np.int64), *unit.shingle_sets(some.column("text"))

    name = f"{stem}.arrow"
    count = shingle_sets.write(folder / name, sets())
    assert count == wanted.sum(), f"{wanted.sum()} candidates, but {count} texts: {work.chunk.kept}"
    return Outcome({"sets": count}, [name])


@dataclass(frozen=True)
class ConfirmWork:
    """All members and their sets, and what says who stays."""

    unit: str
    members: str
    sets: tuple[str, ...]
    places: tuple[ChunkPlace, ...]
    documents: int
    least: float
    rank: str | None


def confirm_step(
    name: str, unit: str, choice: Choice, output: Path, places: Sequence[ChunkPlace], sums: Sequence[Any],
    documents: int, candidates: Step, candidate_record: Record, set_steps: Step, records: Sequence[Record],
    reads: tuple[Step, ...],
) -> Step:  # fmt: skip
    """The step that compares, and writes who goes."""
    made = choice.make("deduplicator")
    rank = rank_signal(made.survivor, unit)
    [members] = candidate_record.files
    sets = [record.files[0] for record in records]
    work = ConfirmWork(
        unit, str(output / candidates.name / members.path),
        tuple(str(output / set_steps.name / file.path) for file in sets), tuple(places), documents,
        made.least_similarity(), rank,
    )  # fmt: skip
    inputs = {"members": members.checksum, "sets": [file.checksum for file in sets], "chunks": list(sums)}
    task = Task("drops", inputs, work, bytes=sum(file.bytes for file in sets))
    literals = {"unit": unit, "rank": rank, "least_similarity": work.least}
    function = "gristmill.route.dedup_confirm:confirm"
    return Step(name, function, VERSION, literals, [task], (*reads, candidates, set_steps), candidates.meanwhile)


def confirm(work: ConfirmWork, folder: Path, stem: str) -> Outcome:
    """The task: compare candidates, write who goes, and how big the clusters are that remain."""
    from gristmill.dedup.clusters import Clusters
    from gristmill.dedup.confirming import confirmed

    writer = DropWriter(folder, work.unit, work.places, work.documents)
    with scratch_folder(folder) as scratch:
        rank = work.rank

        def ranks(positions: Positions) -> npt.NDArray[np.float64]:
            assert rank is not None
            of_rows = [ranks_of(place, rank)[_rows_in(place, positions)] for place in work.places]
            return np.concatenate(of_rows)

        members = ((positions, roots) for roots, positions in pairs.read(work.members))
        sets = (some for path in work.sets for some in shingle_sets.read(path))
        goes, stays = confirmed(members, sets, work.least, ranks if rank is not None else None, scratch)
        for chunk, place in enumerate(work.places):
            of_chunk = slice(*np.searchsorted(goes, [place.first, place.first + place.rows]))
            writer.write(chunk, goes[of_chunk] - place.first, keys_of(work.places, stays[of_chunk]))
        clusters = Clusters(sum(place.rows for place in work.places), scratch)
        clusters.add([(stays, goes)])
        clusters.close()
        return Outcome({**writer.counts(), **cluster_counts(clusters, work.places)}, writer.files, writer.notices())


def _rows_in(place: ChunkPlace, positions: Positions) -> Positions:
    start, stop = np.searchsorted(positions, [place.first, place.first + place.rows])
    return positions[start:stop] - place.first

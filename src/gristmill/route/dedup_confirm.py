"""The steps of a deduplicator that compares its candidates, between pairs and drops. See route/dedup.py.

dedup/UNIT.candidates  one task: pairs → members of clusters
dedup/UNIT.sets        a task a chunk: members' texts → their sets of n-grams
dedup/UNIT             one task: members and sets → drops
With an index, members are also documents of earlier runs, whose sets are in it; and another step adds this run's:
dedup/UNIT.index_sets  a task a chunk: the texts that are left → their sets of n-grams
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
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
from gristmill.route.dedup_index import SETS, EarlierFile
from gristmill.route.drop_files import ChunkPlace, DropWriter, keys_of
from gristmill.route.survivors import ChunkFiles, SiftedChunk, surviving
from gristmill.units import Choice

VERSION = 1
_MEMBERS = "members.arrow"
_EARLIER_MEMBERS = "earlier.arrow"  # pairs of positions of members of earlier runs: in all runs, and in this one


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
    others = (other for path in work.pairs for _, other in pairs.read(path))
    far = np.unique(np.concatenate([np.zeros(0, np.int64), *(np.unique(some[some >= pairs.FAR]) for some in others)]))
    with scratch_folder(folder) as scratch:
        clusters = clusters_of(work.pairs, work.places, scratch, far)
        stretches = [(place.first, place.rows) for place in work.places]
        stretches.append((sum(place.rows for place in work.places) + 1, len(far)))
        members = (clusters.members(*stretch) for stretch in stretches)
        count = pairs.write_batches(folder / _MEMBERS, ((roots, positions) for positions, roots in members))
        pairs.write(folder / _EARLIER_MEMBERS, far, stretches[-1][0] + np.arange(len(far)))
    return Outcome({"members": count}, [_MEMBERS, _EARLIER_MEMBERS])


@dataclass(frozen=True)
class SetWork:
    """One chunk, and who is a member."""

    unit: Choice
    place: ChunkPlace
    chunk: ChunkFiles
    members: str | None  # None: all documents that are left


def set_step(
    name: str, choice: Choice, output: Path, chunks: Sequence[SiftedChunk], places: Sequence[ChunkPlace],
    candidates: Step, record: Record, reads: tuple[Step, ...],
) -> Step:  # fmt: skip
    """The step that reads the candidates' texts."""
    file = record.file(_MEMBERS)
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


def index_set_step(
    name: str, choice: Choice, chunks: Sequence[SiftedChunk], places: Sequence[ChunkPlace], reads: tuple[Step, ...]
) -> Step:
    """The step that makes the sets of all that is left, for an index."""
    tasks = [
        Task(
            f"{SETS}{number:05}",
            {"chunk": chunk.inputs(), "first": place.first},
            SetWork(choice, place, chunk.files(), None),
            bytes=int(chunk.judged.counts["kept_bytes"]),
        )
        for number, (chunk, place) in enumerate(zip(chunks, places, strict=True))
    ]
    literals = {"sketches": choice.sketching_literals()}
    return Step(name, "gristmill.route.dedup_confirm:make_sets", VERSION, literals, tasks, reads)


def make_sets(work: SetWork, folder: Path, stem: str) -> Outcome:
    """The task: the sets of n-grams of one chunk's members."""
    unit = work.unit.make("deduplicator")
    first = work.place.first
    if work.members is None:
        wanted = work.place.sketches.left()
    else:
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
    earlier_members: str
    sets: tuple[str, ...]
    earlier_sets: tuple[tuple[int, str], ...]  # number of the run, and file
    places: tuple[ChunkPlace, ...]
    documents: int
    least: float
    rank: str | None


def confirm_step(
    name: str, unit: str, choice: Choice, output: Path, places: Sequence[ChunkPlace], sums: Sequence[Any],
    documents: int, candidates: Step, candidate_record: Record, set_steps: Step, records: Sequence[Record],
    earlier: Sequence[EarlierFile], reads: tuple[Step, ...],
) -> Step:  # fmt: skip
    """The step that compares, and writes who goes."""
    made = choice.make("deduplicator")
    rank = rank_signal(made.survivor, unit)
    members, earlier_members = candidate_record.file(_MEMBERS), candidate_record.file(_EARLIER_MEMBERS)
    sets = [record.files[0] for record in records]
    work = ConfirmWork(
        unit, str(output / candidates.name / members.path), str(output / candidates.name / earlier_members.path),
        tuple(str(output / set_steps.name / file.path) for file in sets),
        tuple((file.run, file.path) for file in earlier), tuple(places), documents, made.least_similarity(), rank,
    )  # fmt: skip
    inputs: dict[str, Any] = {
        "members": members.checksum,
        "sets": [file.checksum for file in sets],
        "chunks": list(sums),
    }
    if earlier:
        inputs["earlier"] = [[file.run, file.checksum] for file in earlier]
        inputs["earlier_members"] = earlier_members.checksum
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
        sets = chain((some for path in work.sets for some in shingle_sets.read(path)), _earlier_sets(work))
        rows = sum(place.rows for place in work.places)
        goes, stays = confirmed(members, sets, work.least, ranks if rank is not None else None, rows, scratch)
        for chunk, place in enumerate(work.places):
            of_chunk = slice(*np.searchsorted(goes, [place.first, place.first + place.rows]))
            writer.write(chunk, goes[of_chunk] - place.first, keys_of(work.places, stays[of_chunk]))
        clusters = Clusters(rows, scratch)
        clusters.add([(stays, goes)])
        clusters.close()
        return Outcome({**writer.counts(), **cluster_counts(clusters, work.places)}, writer.files, writer.notices())


def _earlier_sets(work: ConfirmWork) -> Iterator[shingle_sets.Sets]:
    found = [far for far, _ in pairs.read(work.earlier_members)]
    members = np.concatenate([np.zeros(0, np.int64), *found])
    for run, path in work.earlier_sets:
        start, stop = np.searchsorted(members, [pairs.far(run), pairs.far(run + 1)])
        yield from shingle_sets.read_some(path, members[start:stop] - pairs.far(run))


def _rows_in(place: ChunkPlace, positions: Positions) -> Positions:
    start, stop = np.searchsorted(positions, [place.first, place.first + place.rows])
    return positions[start:stop] - place.first

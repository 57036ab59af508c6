"""The three steps of a deduplicator by hashes: sorted runs, pairs, clusters and drops. See route/dedup.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gristmill.dedup.survivor import rank_signal
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats import pairs
from gristmill.formats.documents import read_batches
from gristmill.formats.files import scratch_folder
from gristmill.formats.pairs import Positions
from gristmill.route.dedup_index import EarlierFile
from gristmill.route.drop_files import ChunkPlace, DropWriter, keys_of
from gristmill.units import Choice

if TYPE_CHECKING:
    from gristmill.dedup.clusters import Clusters

VERSION = 1


@dataclass(frozen=True)
class SortWork:
    """Some chunks in a row."""

    unit: Choice
    places: tuple[ChunkPlace, ...]


def sort_step(
    name: str, choice: Choice, places: Sequence[ChunkPlace], sums: Sequence[Any], reads: tuple[Step, ...]
) -> Step:
    """The step that sorts the sketches of all chunks, a stretch of them at a time."""
    from gristmill.dedup.sorting import ROOM_HASHES

    hashes = sum(map(len, choice.make("deduplicator").bands()))
    stretches: list[list[int]] = []
    rows = 0
    for number, place in enumerate(places):
        if not stretches or (rows + place.rows) * hashes > ROOM_HASHES:
            stretches.append([])
            rows = 0
        stretches[-1].append(number)
        rows += place.rows
    tasks = [
        Task(
            f"{number:05}",
            {"chunks": [sums[chunk] for chunk in stretch], "rows_before": places[stretch[0]].first - 1},
            SortWork(choice, tuple(places[chunk] for chunk in stretch)),
            bytes=sum(places[chunk].rows for chunk in stretch) * hashes * 8,
        )
        for number, stretch in enumerate(stretches)
    ]
    literals = {"sketches": choice.sketching_literals()}
    return Step(name, "gristmill.route.dedup_hashes:sort", VERSION, literals, tasks, reads, reads[0].meanwhile)


def sort(work: SortWork, folder: Path, stem: str) -> Outcome:
    """The task: sort the hashes of these chunks' documents."""
    from gristmill.dedup.sorting import sort_sketches

    bands = work.unit.make("deduplicator").bands()
    name = f"{stem}.arrow"
    first = work.places[0].first
    files, rows = [place.sketches for place in work.places], [place.rows for place in work.places]
    return Outcome({"documents": sort_sketches(files, rows, bands, folder / name, first)}, [name])


@dataclass(frozen=True)
class PairWork:
    """One band of all runs, and one part of its hashes."""

    own: tuple[str, ...]
    earlier: tuple[str, ...]
    earlier_firsts: tuple[int, ...] | None  # None: they are not told apart
    band: int
    part: int
    parts: int


def pair_step(
    name: str,
    output: Path,
    choice: Choice,
    sorted_step: Step,
    records: Sequence[Record],
    earlier: Sequence[EarlierFile],
    apart: bool,
) -> Step:
    """The step that finds equal hashes. `apart`: documents of earlier runs are told apart."""
    from gristmill.dedup.sorting import PART_DOCS

    runs = [record.files[0] for record in records]
    own = tuple(str(output / sorted_step.name / run.path) for run in runs)
    docs = sum(record.counts["documents"] for record in records) + sum(file.documents for file in earlier)
    parts = max(1, -(-docs // PART_DOCS))
    inputs: dict[str, Any] = {"runs": [run.checksum for run in runs], "earlier": [file.checksum for file in earlier]}
    if apart and earlier:
        inputs["apart"] = [file.run for file in earlier]
    firsts = tuple(pairs.far(file.run) for file in earlier) if apart else None
    hash_bytes = 8 * docs // parts
    tasks = [
        Task(
            f"{band:03}-{part:05}",
            {**inputs, "band": band, "part": [part, parts]},
            PairWork(own, tuple(file.path for file in earlier), firsts, band, part, parts),
            bytes=hash_bytes,
        )
        for band in range(len(choice.make("deduplicator").bands()))
        for part in range(parts)
    ]
    function = "gristmill.route.dedup_hashes:find_pairs"
    return Step(name, function, VERSION, {}, tasks, (sorted_step,), sorted_step.meanwhile)


def find_pairs(work: PairWork, folder: Path, stem: str) -> Outcome:
    """The task: the pairs of one part of one band."""
    from gristmill.dedup.sorting import pairs_of

    lowest, others = pairs_of(
        [Path(path) for path in work.own], [Path(path) for path in work.earlier], work.band, work.part, work.parts,
        work.earlier_firsts,
    )  # fmt: skip
    name = f"{stem}.arrow"
    pairs.write(folder / name, lowest, others)
    return Outcome({"pairs": len(lowest)}, [name])


@dataclass(frozen=True)
class ClusterWork:
    """All pairs, and what says who stays."""

    unit: str  # its name in this recipe
    pairs: tuple[str, ...]
    places: tuple[ChunkPlace, ...]
    documents: int
    rank: str | None  # the signal that ranks documents


def cluster_step(
    name: str, unit: str, choice: Choice, output: Path, places: Sequence[ChunkPlace], sums: Sequence[Any],
    documents: int, paired: Step, records: Sequence[Record], reads: tuple[Step, ...],
) -> Step:  # fmt: skip
    """The step that puts pairs into clusters and writes who goes."""
    paths, inputs, size_bytes = pair_files(output, paired, records)
    rank = rank_signal(choice.make("deduplicator").survivor, unit)
    work = ClusterWork(unit, paths, tuple(places), documents, rank)
    task = Task("drops", {"pairs": inputs, "chunks": list(sums)}, work, bytes=size_bytes)
    literals = {"unit": unit, "rank": rank}
    function = "gristmill.route.dedup_hashes:cluster"
    return Step(name, function, VERSION, literals, [task], (*reads, paired), paired.meanwhile)


def cluster(work: ClusterWork, folder: Path, stem: str) -> Outcome:
    """The task: pairs → clusters → drops, and how big the clusters are."""
    writer = DropWriter(folder, work.unit, work.places, work.documents)
    with scratch_folder(folder) as scratch:
        clusters = clusters_of(work.pairs, work.places, scratch)
        if work.rank is not None:
            clusters.rank((place.first, ranks_of(place, work.rank)) for place in work.places)
        for chunk, place in enumerate(work.places):
            positions, survivors = clusters.gone(place.first, place.rows)
            writer.write(chunk, positions - place.first, keys_of(work.places, survivors))
        return Outcome({**writer.counts(), **cluster_counts(clusters, work.places)}, writer.files, writer.notices())


def pair_files(output: Path, paired: Step, records: Sequence[Record]) -> tuple[tuple[str, ...], list[str], int]:
    """The files of pairs: paths, checksums, bytes in all."""
    files = [file for record in records for file in record.files]
    paths = tuple(str(output / paired.name / file.path) for file in files)
    return paths, [file.checksum for file in files], sum(file.bytes for file in files)


def clusters_of(
    paths: Sequence[str], places: Sequence[ChunkPlace], scratch: Path, far: Positions | None = None
) -> Clusters:
    """The clusters that all pairs make. `far`: the positions in them from FAR on, which then follow the others."""
    from gristmill.dedup.clusters import Clusters

    rows = sum(place.rows for place in places)
    clusters = Clusters(rows + (0 if far is None else len(far)), scratch)
    for path in paths:
        found = pairs.read(path)
        if far is not None:
            found = ((lowest, _near(other, far, rows)) for lowest, other in found)
        clusters.add(found)
    clusters.close()
    return clusters


def _near(positions: Positions, far: Positions, rows: int) -> Positions:
    return np.where(positions < pairs.FAR, positions, rows + 1 + np.searchsorted(far, positions))


def cluster_counts(clusters: Clusters, places: Sequence[ChunkPlace]) -> dict[str, Any]:
    """For the record: how many clusters there are of each size, and the largest ones, documents by source, chunk and
    row."""
    largest = [{"size": each.size, "members": _named(places, np.array(each.members))} for each in clusters.largest()]
    return {
        "cluster_sizes": {str(size): count for size, count in clusters.sizes().items()},
        "largest_clusters": largest,
    }


def ranks_of(place: ChunkPlace, signal: str) -> npt.NDArray[np.float64]:
    """What ranks each row of a chunk."""
    batches = read_batches(Path(place.sketches.sketches), [signal])
    return np.concatenate([batch.column(0).cast("float64").fill_null(-np.inf).to_numpy() for batch in batches])


def _named(places: Sequence[ChunkPlace], positions: npt.NDArray[np.int64]) -> list[list[Any]]:
    keys = keys_of(places, positions)
    named = ((places[key >> 32], key & 0xFFFFFFFF) for key in keys.tolist())
    return [[place.source, place.number, row] for place, row in named]

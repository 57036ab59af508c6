"""The three steps of a deduplicator by hashes: sorted runs, pairs, clusters and drops. See route/dedup.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.dedup.survivor import rank_signal
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats import pairs
from gristmill.formats.documents import read_batches
from gristmill.formats.files import scratch_folder
from gristmill.route.drop_files import ChunkPlace, DropWriter, keys_of
from gristmill.units import Choice

VERSION = 1
_CLUSTER_FILE = "clusters.json"


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
    band: int
    part: int
    parts: int


def pair_step(
    name: str, output: Path, choice: Choice, sorted_step: Step, records: Sequence[Record], earlier: Sequence[Any]
) -> Step:
    """The step that finds equal hashes. `earlier`: path and checksum of each file of an index."""
    from gristmill.dedup.sorting import PART_DOCS

    runs = [record.files[0] for record in records]
    own = tuple(str(output / sorted_step.name / run.path) for run in runs)
    docs = sum(record.counts["documents"] for record in records) + sum(count for *_, count in earlier)
    parts = max(1, -(-docs // PART_DOCS))
    inputs = {"runs": [run.checksum for run in runs], "earlier": [checksum for _, checksum, _ in earlier]}
    hash_bytes = 8 * docs // parts
    tasks = [
        Task(
            f"{band:03}-{part:05}",
            {**inputs, "band": band, "part": [part, parts]},
            PairWork(own, tuple(path for path, *_ in earlier), band, part, parts),
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
        [Path(path) for path in work.own], [Path(path) for path in work.earlier], work.band, work.part, work.parts
    )
    name = f"{stem}.arrow"
    pairs.write(folder / name, lowest, others)
    return Outcome({"pairs": len(lowest)}, [name])


@dataclass(frozen=True)
class ClusterWork:
    """All pairs, and what says who stays."""

    unit: str  # its name in this recipe
    pairs: tuple[str, ...]
    places: tuple[ChunkPlace, ...]
    rank: str | None  # the signal that ranks documents


def cluster_step(
    name: str, unit: str, choice: Choice, output: Path, places: Sequence[ChunkPlace], sums: Sequence[Any],
    paired: Step, records: Sequence[Record], reads: tuple[Step, ...],
) -> Step:  # fmt: skip
    """The step that puts pairs into clusters and writes who goes."""
    files = [(str(output / paired.name / file.path), file) for record in records for file in record.files]
    rank = rank_signal(choice.make("deduplicator").survivor, unit)
    work = ClusterWork(unit, tuple(path for path, _ in files), tuple(places), rank)
    inputs = {
        "pairs": [file.checksum for _, file in files],
        "chunks": list(sums),
    }
    task = Task("drops", inputs, work, bytes=sum(file.bytes for _, file in files))
    literals = {"unit": unit, "rank": rank}
    return Step(name, "gristmill.route.dedup_hashes:cluster", VERSION, literals, [task], (*reads, paired),
                paired.meanwhile)  # fmt: skip


def cluster(work: ClusterWork, folder: Path, stem: str) -> Outcome:
    """The task: pairs → clusters → drops, and how big the clusters are."""
    from gristmill.dedup.clusters import Clusters

    writer = DropWriter(folder, work.unit, work.places)
    with scratch_folder(folder) as scratch:
        clusters = Clusters(sum(place.rows for place in work.places), scratch)
        for path in work.pairs:
            clusters.add(pairs.read(path))
        clusters.close()
        if work.rank is not None:
            clusters.rank((place.first, _ranks(place, work.rank)) for place in work.places)
        for chunk, place in enumerate(work.places):
            positions, survivors = clusters.gone(place.first, place.rows)
            writer.write(chunk, positions - place.first, keys_of(work.places, survivors))
        counts = {
            "dropped": writer.dropped,
            "dropped_bytes": writer.dropped_bytes,
            "cluster_sizes": {str(size): count for size, count in clusters.sizes().items()},
            "largest_clusters": [
                {"size": each.size, "members": _named(work.places, np.array(each.members))}
                for each in clusters.largest()
            ],
        }
    return Outcome(counts, writer.files)


def _ranks(place: ChunkPlace, signal: str) -> npt.NDArray[np.float64]:
    batches = read_batches(Path(place.sketches.sketches), [signal])
    return np.concatenate([batch.column(0).cast("float64").fill_null(-np.inf).to_numpy() for batch in batches])


def _named(places: Sequence[ChunkPlace], positions: npt.NDArray[np.int64]) -> list[list[Any]]:
    """Positions as people and other files name documents: source, chunk, row."""
    keys = keys_of(places, positions)
    named = ((places[key >> 32], key & 0xFFFFFFFF) for key in keys.tolist())
    return [[place.source, place.number, row] for place, row in named]

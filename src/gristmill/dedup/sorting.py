"""Sketches to sorted runs, and runs to pairs of documents with an equal hash: the two halves of a group-by that is
bounded by its parts and not by the corpus.

A band is the columns of one hash: a document has one hash in each band, or none in any (then it is nobody's
duplicate). Documents that share the hash of any band are pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.dedup.sketches import SketchFile
from gristmill.formats.hash_runs import HashRuns, Run, write_runs
from gristmill.formats.pairs import FAR, Positions

Bands = Sequence[Sequence[str]]
ROOM_HASHES = 1 << 24  # 64-bit hashes that are held before they are sorted: 128 MB
PART_DOCS = 1 << 22  # documents whose hashes of one band are compared at once: about 150 MB


def sort_sketches(
    files: Sequence[SketchFile], rows: Sequence[int], bands: Bands, path: Path, first_position: int
) -> int:
    """Write the runs of some chunks in a row, whose first row has this position; returns how many documents."""
    from gristmill.kernels.radix import sort_hashes

    columns = [column for band in bands for column in band]
    hashes = np.empty((len(columns), sum(rows)), np.uint64)
    numbers = np.empty(sum(rows), np.uint32)
    count = before = 0
    for file, file_rows in zip(files, rows, strict=True):
        left = file.left()
        at = 0
        for batch in file.batches(columns):
            there = batch[0].is_valid().to_numpy(zero_copy_only=False) & left[at : at + len(batch[0])]
            found = np.flatnonzero(there)
            numbers[count : count + len(found)] = before + at + found
            for column, values in zip(hashes, batch, strict=True):
                column[count : count + len(found)] = _numbers(values)[found]
            at += len(batch[0])
            count += len(found)
        assert at == file_rows == len(left), f"{file.sketches}: {file_rows} rows expected, {at} found"
        before += file_rows

    def runs() -> Iterator[Run]:
        column = 0
        for band in bands:
            order = np.arange(count, dtype=np.uint32)
            sorted_hashes, order = sort_hashes(hashes[column][:count].copy(), order)
            further = hashes[column + 1][order] if len(band) == 2 else np.zeros(0, np.uint64)
            yield Run(sorted_hashes, further, numbers[order])
            column += len(band)

    write_runs(path, first_position, len(bands[0]) == 2, runs())
    return count


def pairs_of(
    own: Sequence[Path],
    earlier: Sequence[Path],
    band: int,
    part: int,
    parts: int,
    earlier_firsts: Sequence[int] | None = None,
) -> tuple[Positions, Positions]:
    """Pairs (lowest, other) of documents whose hashes of this band are equal and lie in this part of all hashes.
    `earlier` are runs of documents that earlier runs of the recipe kept: they all are position 0, unless
    `earlier_firsts` says what is added to their positions, from FAR on; then no pair is only of them."""
    from gristmill.kernels.equal import pairs_of_equal
    from gristmill.kernels.radix import sort_hashes

    firsts: list[int | None] = [0 for _ in own]
    firsts += [None for _ in earlier] if earlier_firsts is None else earlier_firsts
    pieces = []
    for path, first in zip([*own, *earlier], firsts, strict=True):
        runs = HashRuns(path)
        pieces.append((runs.part(band, part, parts), None if first is None else first + runs.first_position))
    positions = np.concatenate(
        [
            np.zeros(len(run.hash), np.int64) if first is None else run.position.astype(np.int64) + first
            for run, first in pieces
        ]
    )
    hashes = np.concatenate([run.hash for run, _ in pieces])
    further = np.concatenate([run.further for run, _ in pieces])
    if len(pieces) > 1:
        hashes, order = sort_hashes(hashes, np.arange(len(hashes), dtype=np.uint32))
        positions = positions[order]
        further = further[order] if len(further) else further
    lowest, others = np.empty_like(positions), np.empty_like(positions)
    count = pairs_of_equal(hashes, further, positions, lowest, others)
    told = lowest[:count] < FAR
    return lowest[:count][told], others[:count][told]


def _numbers(values: Any) -> npt.NDArray[np.uint64]:
    """A column of hashes; what a null stands for is never looked at."""
    return (values.fill_null(0) if values.null_count else values).to_numpy()  # type: ignore[no-any-return]

"""export: packed rows or token shards → the files of another format. One task a part: some rows, one file or a few.

What leaves are the parts; whoever drives the step writes the index beside them and gives the folder its name. Parts
are cut by rows and bytes, never by the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats import row_batch, training_sets
from gristmill.formats.row_batch import About, Stretch
from gristmill.formats.row_file import I64
from gristmill.formats.token_shard import TokenShard
from gristmill.formats.training_sets import Options, Part

VERSION = 1
STEP = "export"


@dataclass(frozen=True)
class RowsFile:
    """A file of rows that is already there: packed rows, or a token shard whose documents are rows."""

    path: str
    checksum: str
    rows: int


@dataclass(frozen=True)
class ExportWork:
    """One part: which rows, and how they are to be written."""

    format: str
    about: About
    options: Options
    stretches: tuple[Stretch, ...]


def step(
    format_name: str,
    about: About,
    options: Options,
    files: Sequence[RowsFile],
    most_rows: int | None = None,
    reads: tuple[Step, ...] = (),
) -> Step:
    """The step that writes all parts, each of `options.shard_bytes` of ids and `most_rows` rows at most."""
    checksums = {file.path: file.checksum for file in files}
    if training_sets.format_of(format_name).one_part:
        parts = [tuple(Stretch(path, 0, stop, first) for path, stop, first in _whole(files))]
    else:
        parts = list(_parts(files, about, most_rows, options.shard_bytes // about.dtype.itemsize))
    tasks = [
        Task(
            name=f"{number:05}",
            inputs={"rows": [[checksums[path], start, stop, first] for path, start, stop, first in stretches]},
            work=ExportWork(format_name, about, options, stretches),
            bytes=_bytes_of(stretches, about, files),
        )
        for number, stretches in enumerate(parts)
    ]
    literals = {"format": format_name, "about": asdict(about), "options": asdict(options)}
    return Step(STEP, "gristmill.route.export:run", VERSION, literals, tasks, reads)


def run(work: ExportWork, folder: Path, stem: str) -> Outcome:
    """The task: write one part."""
    if work.about.sequence_length is None:
        batches = row_batch.of_documents(work.stretches, work.about.dtype)
    else:
        batches = row_batch.of_packed_rows(work.stretches, work.about.layout)
    part = training_sets.write_part(work.format, folder, stem, work.about, work.options, batches)
    return Outcome(part.plain(), list(part.files))


def part_of(record: Record) -> Part:
    """What a finished task wrote."""
    found: Mapping[str, object] = record.counts
    return Part(**{**found, "files": tuple(record.counts["files"])})  # type: ignore[arg-type]


def _whole(files: Sequence[RowsFile]) -> Iterator[tuple[str, int, int]]:
    first = 0
    for file in files:
        yield file.path, file.rows, first
        first += file.rows


def _parts(
    files: Sequence[RowsFile], about: About, most_rows: int | None, most_tokens: int
) -> Iterator[tuple[Stretch, ...]]:
    """Runs of rows, over the bounds of files, that are full when one more row would be too many or too long."""
    most_rows = most_rows or 1 << 62
    part: list[Stretch] = []
    rows_left, tokens_left = most_rows, most_tokens
    for path, rows, first in _whole(files):
        offsets = _offsets(path, rows, about)
        start = 0
        while start < rows:
            stop = int(np.searchsorted(offsets, offsets[start] + tokens_left, side="right")) - 1
            stop = min(max(stop, start if part else start + 1), start + rows_left, rows)
            if stop > start:
                part.append(Stretch(path, start, stop, first + start))
                rows_left -= stop - start
                tokens_left = max(0, tokens_left - int(offsets[stop] - offsets[start]))
                start = stop
            if start < rows:
                yield tuple(part)
                part, rows_left, tokens_left = [], most_rows, most_tokens
    if part:
        yield tuple(part)


def _offsets(path: str, rows: int, about: About) -> I64:
    if about.sequence_length is not None:
        return np.arange(rows + 1, dtype=np.int64) * about.sequence_length
    return TokenShard.open(path).offsets


def _bytes_of(stretches: Iterable[Stretch], about: About, files: Sequence[RowsFile]) -> int:
    """About how much a part reads, for progress."""
    if about.sequence_length is not None:
        return sum(stretch.stop - stretch.start for stretch in stretches) * about.sequence_length * about.dtype.itemsize
    rows_of = {file.path: file.rows for file in files}
    return sum(
        Path(stretch.path).stat().st_size * (stretch.stop - stretch.start) // max(1, rows_of[stretch.path])
        for stretch in stretches
    )

"""A chunk after sift, judge and dedup: which documents are left of it, and what is left of their texts, in the order of
their rows. Cuts are applied in the order of the deduplicators that made them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.engine.record import Record, WrittenFile
from gristmill.formats import cuts, drops
from gristmill.formats.documents import read_batches


@dataclass
class SiftedChunk:
    """One chunk, as the parent process follows it along the route."""

    source: str
    number: int  # within the source
    output: Path
    sifted: Record
    judged: Record
    drops: list[tuple[str, WrittenFile]] = field(default_factory=list)  # step and file, of each deduplicator
    cuts: list[tuple[str, WrittenFile]] = field(default_factory=list)  # the same, in the order in which they apply

    @property
    def stem(self) -> str:
        """The name its files begin with."""
        return f"{self.number:05}"

    def inputs(self) -> dict[str, Any]:
        """What the surviving texts depend on: for fingerprints."""
        return {
            "documents": [file.checksum for file in self.sifted.files if "signals" not in file.path],
            "verdicts": self.judged.files[0].checksum,
            "drops": [file.checksum for _, file in self.drops],
            "cuts": [file.checksum for _, file in self.cuts],
        }

    def files(self) -> ChunkFiles:
        """Where the surviving texts are to be found: for workers."""
        kept, dropped = f"{self.stem}.parquet", f"dropped/{self.stem}.parquet"
        folder = self.output / "sift" / self.source
        has_dropped = any(file.path == dropped for file in self.sifted.files)
        return ChunkFiles(
            kept=str(folder / kept),
            dropped=str(folder / dropped) if has_dropped else None,
            verdicts=str(self.output / "judge" / self.source / self.judged.files[0].path),
            drops=tuple(str(self.output / step / file.path) for step, file in self.drops),
            cuts=tuple(str(self.output / step / file.path) for step, file in self.cuts),
        )


@dataclass(frozen=True)
class ChunkFiles:
    """The files of a chunk that say which documents survive and what they say."""

    kept: str
    dropped: str | None
    verdicts: str
    drops: tuple[str, ...]
    cuts: tuple[str, ...]


def surviving(files: ChunkFiles, columns: Sequence[str]) -> Iterator[Any]:
    """Batches of the surviving documents, rows ascending; `row` is always among the columns, `text` is what is left."""
    in_order = [cuts.read(Path(path)) for path in files.cuts] if "text" in columns else []
    for batch in _uncut(files, columns):
        for of_unit in in_order:
            texts = cuts.cut_rows(batch.column("text"), batch.column("row").to_numpy(), of_unit)
            batch = batch.set_column(batch.schema.get_field_index("text"), "text", texts)
        yield batch


def _uncut(files: ChunkFiles, columns: Sequence[str]) -> Iterator[Any]:
    wanted = _surviving_rows(files)
    found = 0
    if files.dropped is None or not _any_in(Path(files.dropped), wanted):
        for batch in read_batches(Path(files.kept), ["row", *columns]):
            batch = _only(batch, wanted)
            found += len(batch)
            if len(batch):
                yield batch
    else:  # a bound was loosened since the texts were written: some survivors lie among the dropped
        tables = [_table(Path(path), wanted, ["row", *columns]) for path in (files.kept, files.dropped)]
        table = pa.concat_tables(tables).sort_by("row")
        found = len(table)
        yield from table.combine_chunks().to_batches(max_chunksize=1 << 16)
    assert found == len(wanted), f"{len(wanted) - found} surviving documents have no text: {files.kept}"


def _surviving_rows(files: ChunkFiles) -> Any:
    batches = [
        batch.column("row").filter(pc.is_null(batch.column("verdict"))).to_numpy()
        for batch in read_batches(Path(files.verdicts), ["row", "verdict"])
    ]
    kept = np.concatenate([np.zeros(0, np.int32), *batches])
    gone = np.concatenate([np.zeros(0, np.int32), *(drops.read_rows(Path(path)) for path in files.drops)])
    return np.setdiff1d(kept, gone, assume_unique=True) if len(gone) else kept


def _any_in(path: Path, wanted: Any) -> bool:
    return any(len(_only(batch, wanted)) for batch in read_batches(path, ["row"]))


def _only(batch: Any, wanted: Any) -> Any:
    """The rows of a batch that are wanted; `wanted` ascends."""
    rows = batch.column("row").to_numpy()
    places = np.searchsorted(wanted, rows)
    inside = places < len(wanted)
    inside[inside] = wanted[places[inside]] == rows[inside]
    return batch if inside.all() else batch.filter(pa.array(inside))


def _table(path: Path, wanted: Any, columns: Sequence[str]) -> Any:
    batches = [_only(batch, wanted) for batch in read_batches(path, columns)]
    if not batches:
        return pa.table({name: pa.array([], pa.int32() if name == "row" else pa.large_string()) for name in columns})
    return pa.Table.from_batches(batches)

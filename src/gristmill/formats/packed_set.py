"""Gristmill's own packed rows as one of the formats: row files (row_file.py), their manifest and the tokenizer.

A row file is one record batch, so a part is held in memory until it is written: `Options.shard_bytes` bounds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gristmill.formats import packed_rows
from gristmill.formats.packed_rows import FileEntry, PackedRows
from gristmill.formats.row_batch import About, RowBatch
from gristmill.formats.row_file import RowFile, Segments
from gristmill.formats.training_sets import Options, Part


class PackedSet:
    """Writes and reads packed rows."""

    def write_part(
        self, folder: Path, stem: str, about: About, options: Options, batches: Iterable[RowBatch]
    ) -> tuple[list[str], Mapping[str, Any]]:
        """One row file."""
        name = f"{stem}.arrow"
        held = list(batches)
        width = about.layout.sequence_length
        ids = np.concatenate([np.zeros(0, about.dtype), *(batch.ids for batch in held)]).reshape(-1, width)
        lengths = np.concatenate([np.zeros(0, np.int64), *(batch.lengths for batch in held)])
        entry = packed_rows.write(folder / name, about.layout, ids, lengths.astype(np.uint32), _joined(held))
        return [name], {**asdict(entry), "layout": asdict(about.layout)}

    def write_index(self, folder: Path, about: About, options: Options, parts: Sequence[Part]) -> list[str]:
        """The manifest. The tokenizer that it names lies beside it already."""
        entries = [FileEntry(**{name: part.details[name] for name in FileEntry.__dataclass_fields__}) for part in parts]
        packed_rows.write_manifest(folder, about.layout, entries)
        return [packed_rows.MANIFEST]

    def count(self, folder: Path, part: Part) -> tuple[int, int]:
        """By the file itself."""
        layout = packed_rows.Layout(**{**part.details["layout"], "sources": tuple(part.details["layout"]["sources"])})
        file = RowFile.open(folder / part.files[0], layout)
        return len(file), file.ids.size

    def read(self, folder: Path, files: Sequence[str]) -> Iterator[Any]:
        """The ids of every row, padding included."""
        packed = PackedRows.open(folder)
        yield from (packed.ids(row) for row in range(len(packed)))


def _joined(batches: Sequence[RowBatch]) -> Segments:
    parts = np.concatenate([np.zeros(0, np.int64), *(np.diff(batch.segments.offsets) for batch in batches)])
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(parts, out=offsets[1:])
    kinds = (np.uint32, np.uint16, np.uint64, np.uint64)
    columns = [
        np.concatenate([np.zeros(0, kind), *(batch.segments[number] for batch in batches)])
        for number, kind in enumerate(kinds, 1)
    ]
    return Segments(offsets, *columns)

"""Rows to write in every format: packed ones of each strategy, and documents of every awkward length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gristmill.formats import row_batch, token_shard, training_sets
from gristmill.formats.row_batch import DOCUMENTS, About, RowBatch, Stretch
from gristmill.formats.training_sets import Compression, Options, Part
from reference.loader import Row, layout, padded_ids, random_rows, wrapped_rows, write_pack

WIDTH = 16
STRATEGIES = (DOCUMENTS, "padded", "best_fit", "wrapped")
DOCUMENT_LENGTHS = [1, 3, 255, 256, 257, 16, 2, 700, 1, 65_535, 65_536, 9]


class Set:
    """Rows on disk as Gristmill has them, and what each of them holds."""

    def __init__(self, folder: Path, strategy: str, vocab_size: int, seed: int = 1) -> None:
        width = None if strategy == DOCUMENTS else WIDTH
        self.about = About("tiny", "f" * 64, vocab_size, 0, 0, strategy, width, ("web", "wiki"))
        self.stretches: list[Stretch] = []
        if width is None:
            rng = np.random.default_rng(seed)
            documents = [rng.integers(0, vocab_size, length).astype(self.about.dtype) for length in DOCUMENT_LENGTHS]
            bounds = np.append(0, np.cumsum(DOCUMENT_LENGTHS)).astype(np.int64)
            numbers = np.arange(len(documents), dtype=np.int32)
            folder.mkdir(parents=True, exist_ok=True)
            token_shard.write(folder / "0.arrow", "f" * 64, [(numbers, bounds, np.concatenate(documents))])
            self.stretches = [Stretch(str(folder / "0.arrow"), 0, len(documents), 0)]
            self.rows = self.real = [document.tolist() for document in documents]
            self.parts = [[row] for row in self.rows]
            return
        kind = replace(layout(WIDTH, vocab_size), strategy=strategy)
        written = _rows(strategy, seed, vocab_size)
        first = 0
        for entry in write_pack(folder, written, kind).files:
            self.stretches.append(Stretch(str(folder / entry.name), 0, entry.rows, first))
            first += entry.rows
        self.rows = [padded_ids(row, kind) for row in written]
        self.parts = [[part.ids for part in row] for row in written]
        self.real = [[token for ids in parts for token in ids] for parts in self.parts]

    def batches(self) -> Iterator[RowBatch]:
        if self.about.sequence_length is None:
            return row_batch.of_documents(self.stretches, self.about.dtype)
        return row_batch.of_packed_rows(self.stretches, self.about.layout)

    def write(self, name: str, folder: Path, compression: str = "none", shard_bytes: int = 1 << 20) -> Part:
        """Write the set as one part, with its index."""
        options = Options(Compression.parse(compression), shard_bytes)
        part = training_sets.write_part(name, folder, "00000", self.about, options, self.batches())
        training_sets.format_of(name).writer().write_index(folder, self.about, options, [part])
        return part


def read(name: str, folder: Path, part: Part) -> list[Any]:
    rows = training_sets.format_of(name).writer().read(folder, part.files)
    return [row if isinstance(row, str) else np.asarray(row).tolist() for row in rows]


def _rows(strategy: str, seed: int, vocab_size: int) -> list[Row]:
    rows = [row for row in random_rows(60, WIDTH, seed, vocab_size) if row]
    if strategy == "padded":
        return [row[:1] for row in rows]
    if strategy == "best_fit":
        return rows
    whole = [[token for part in row for token in part.ids] for row in rows]
    return wrapped_rows(whole, WIDTH)[:-1]

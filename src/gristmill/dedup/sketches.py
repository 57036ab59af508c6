"""The sketches of a chunk, and which of its documents are still there when a deduplicator's turn comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from gristmill.formats import drops
from gristmill.formats.documents import read_batches


@dataclass(frozen=True)
class SketchFile:
    """One chunk: Parquet files with a column `row`, a row for each row read. Only rows without verdict that no
    earlier deduplicator took away count."""

    sketches: str
    verdicts: str
    chunk: int  # position among all chunks, in source order
    unit: str = ""  # what this deduplicator is called in this recipe: its columns are `unit.column`
    gone: tuple[str, ...] = ()  # files of drops of earlier deduplicators

    def left(self) -> npt.NDArray[np.bool_]:
        """For each row: whether its document is still there."""
        kept = [
            pc.is_null(batch.column("verdict")).to_numpy(zero_copy_only=False)
            for batch in read_batches(Path(self.verdicts), ["verdict"])
        ]
        left = np.concatenate([np.zeros(0, np.bool_), *kept])
        for path in self.gone:
            left[drops.read_rows(Path(path))] = False
        return left

    def batches(self, columns: Sequence[str]) -> Any:
        """Batches of some of the deduplicator's columns, for every row."""
        names = [f"{self.unit}.{column}" for column in columns]
        for batch in read_batches(Path(self.sketches), names):
            yield [batch.column(name) for name in names]

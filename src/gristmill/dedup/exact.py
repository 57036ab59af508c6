"""Exact duplicates: equal texts after cleaning, across all sources, found by a 128-bit hash.

Two different texts among a trillion share a 128-bit hash with a probability of about 1.5e-15.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gristmill.dedup.grouping import SketchFile, group_equal
from gristmill.document import buffers


@dataclass(frozen=True)
class Exact:
    """Keeps the first of each set of equal texts, in the order of sources and positions."""

    NAME: ClassVar[str] = "exact"
    VERSION: ClassVar[int] = 1

    def sketch(self, texts: Any) -> dict[str, npt.NDArray[np.uint64]]:
        """Two columns, the halves of each text's hash."""
        from gristmill.kernels import hashing

        offsets, data = buffers(texts)
        low, high = np.empty(len(texts), np.uint64), np.empty(len(texts), np.uint64)
        hashing.hash_texts(offsets, data, low, high)
        return {"exact.low": low, "exact.high": high}

    def resolve(self, sketches: list[SketchFile], scratch: Path, memory_bytes: int, threads: int) -> Any:
        """Batches of (key, duplicate_of), ordered by key: which documents go, and for whose sake."""
        return group_equal(sketches, ["exact.low", "exact.high"], scratch, memory_bytes, threads)

"""Exact duplicates by a Bloom filter: less memory than any list of hashes, and a few documents lost by mistake.

A filter of `capacity` documents holds log2(1 / rate) * 1.44 bits a document, 28.8 for one mistake in a million. A
document is dropped wrongly with at most that probability (the last of `capacity` documents; the first ones less).
Documents are seen in their order, one after another, so which ones go does not depend on workers or batches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gristmill.dedup.exact import Exact
from gristmill.dedup.remembered import check_index
from gristmill.quantities import parse_count

_MOST_BITS = 1 << 46


@dataclass(frozen=True)
class Bloom:
    """Keeps the first of each set of equal documents. `on` and `column` as those of `exact`."""

    NAME: ClassVar[str] = "bloom"
    VERSION: ClassVar[int] = 1

    capacity: int | str = "100M"
    false_positive_rate: float = 1e-6
    on: str = "text"
    column: str = "url"
    index: Any = None

    def __post_init__(self) -> None:
        if not 0 < self.false_positive_rate < 1:
            raise ValueError(f"expected false_positive_rate between 0 and 1, found {self.false_positive_rate}")
        if self.documents() < 1 or self.filter_bits() > _MOST_BITS:
            raise ValueError(f"expected a capacity that a filter can have, found {self.capacity}")
        Exact(self.on, self.column)
        check_index(self.index)

    def documents(self) -> int:
        """How many documents the rate holds for."""
        return int(parse_count(self.capacity))

    def filter_bits(self) -> int:
        """The size of the filter, whole 64-bit words."""
        bits = self.documents() * math.log(1 / self.false_positive_rate) / math.log(2) ** 2
        return max(1, math.ceil(bits / 64)) * 64

    def probes(self) -> int:
        """How many bits a document sets."""
        return max(1, round(math.log2(1 / self.false_positive_rate)))

    def rate_at(self, documents: int) -> float:
        """The probability of a mistake when so many documents have been seen."""
        return float((1 - math.exp(-self.probes() * documents / self.filter_bits())) ** self.probes())

    def looked_at(self) -> str:
        """The column that it sketches."""
        return Exact(self.on, self.column).looked_at()

    def sketching(self) -> Mapping[str, Any]:
        """The parameters that sketches and filters depend on."""
        return {**Exact(self.on, self.column).sketching(), "bits": self.filter_bits(), "probes": self.probes()}

    def sketch(self, texts: Any) -> dict[str, Any]:
        """The same two columns as those of `exact`."""
        columns = Exact(self.on, self.column).sketch(texts)
        return {self.NAME + name.removeprefix(Exact.NAME): values for name, values in columns.items()}

    def seen(
        self, low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.bool_]:
        """Which of these hashes the filter holds already; then it holds them all."""
        from gristmill.kernels.bloom import see

        found = np.empty(len(low), np.bool_)
        see(low, high, self.probes(), words, found)
        return found

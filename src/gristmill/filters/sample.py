"""Keeps a random share of all documents, the same ones every time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView


@dataclass(frozen=True)
class Sample(Filter):
    """Keeps a document with the probability `rate`, decided by a hash of its id and the seed.

    So the same documents are kept on any number of workers and in any order; equal ids are kept or dropped together; a
    lower rate keeps some of those that a higher one keeps; two seeds are independent of each other. The hash is the
    64-bit xxHash of the id under the seed, and where it lies between 0 and 1 is the signal `sample.place`. It looks at
    ids, so `verdicts(ids)` takes them. datatrove's SamplerFilter draws numbers in the order of documents instead.
    Dropped by `rate: 0.5`: "1", an id (not_drawn).
    """

    NAME: ClassVar[str] = "sample"

    rate: float
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.rate, bool) or not isinstance(self.rate, (int, float)) or not 0 <= self.rate <= 1:
            raise ValueError(f"expected rate: a share from 0 to 1, found {self.rate!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 1 << 64:
            raise ValueError(f"expected seed: a whole number from 0 to 2**64 - 1, found {self.seed!r}")

    def column(self) -> str:
        """Ids."""
        return "id"

    def measuring(self) -> dict[str, Any]:
        """The seed."""
        return {"seed": self.seed}

    def measure(self, view: TextView) -> Signals:
        """Above 0, and at most 1."""
        from gristmill.kernels.hashing import hash_with_seed

        hashes = np.empty(len(view), np.uint64)
        hash_with_seed(view.offsets, view.data, np.uint64(self.seed), hashes)
        return {"sample.place": ((hashes >> np.uint64(11)).astype(np.float64) + 1) / (1 << 53)}

    def rules(self) -> list[Rule]:
        """One."""
        return [Rule("sample.place", None, self.rate, "not_drawn")]

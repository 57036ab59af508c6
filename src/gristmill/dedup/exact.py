"""Exact duplicates across all sources: equal texts, texts equal in their normal form, or equal addresses.

Found by a 128-bit hash: two different texts among a trillion share one with a probability of about 1.5e-15.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from gristmill.dedup.normal_form import NORMAL_FORMS
from gristmill.dedup.remembered import check_index
from gristmill.dedup.survivor import check_survivor, rank_column
from gristmill.document import buffers
from gristmill.errors import unknown_name


@dataclass(frozen=True)
class Exact:
    """Keeps one of each set of equal documents; which is `survivor`'s to say.

    on: text (after cleaning and rewriting), normalized (case, space and punctuation folded), or url (the metadata
    column `column`, its spelling normalised). Documents of which nothing is left to compare are kept.
    With `index`, a folder, documents go that earlier runs kept.
    """

    NAME: ClassVar[str] = "exact"
    VERSION: ClassVar[int] = 2

    on: str = "text"
    column: str = "url"
    survivor: Any = "lowest"
    index: Any = None

    def __post_init__(self) -> None:
        if self.on not in NORMAL_FORMS:
            raise ValueError(unknown_name("normal form `on`", str(self.on), NORMAL_FORMS))
        check_survivor(self.survivor)
        check_index(self.index)

    def looked_at(self) -> str:
        """The column that it sketches."""
        return self.column if self.on == "url" else "text"

    def rank_column(self) -> str | None:
        """The metadata column that decides who stays."""
        return rank_column(self.survivor)

    def sketching(self) -> Mapping[str, Any]:
        """The parameters that sketches depend on."""
        return {"on": self.on, "column": self.looked_at(), "rank": self.rank_column()}

    def sketch(self, texts: Any) -> dict[str, Any]:
        """Two columns, the halves of each document's hash; null where there is nothing to compare."""
        from gristmill.kernels import hashing

        formed, nothing = NORMAL_FORMS[self.on](texts)
        offsets, data = buffers(formed)
        low, high = np.empty(len(formed), np.uint64), np.empty(len(formed), np.uint64)
        hashing.hash_texts(offsets, data, low, high)
        return {"exact.low": pa.array(low, mask=nothing), "exact.high": pa.array(high, mask=nothing)}

    def bands(self) -> list[list[str]]:
        """The columns of each hash: documents are duplicates that share any."""
        return [["low", "high"]]

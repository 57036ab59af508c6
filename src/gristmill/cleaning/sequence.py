"""All cleaners of a recipe as one.

What enters: texts as they were read. What leaves: as many texts, cleaned, and for each the reason why nothing is left
of it, null where something is. A cleaner that may fail has `attempt(texts) -> (texts, reasons)`; what others leave
empty is `clean.empty`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

EMPTY = "clean.empty"


class CleanerSequence:
    """Some cleaners, in order."""

    def __init__(self, cleaners: Sequence[Any]) -> None:
        self._cleaners = cleaners

    def clean(self, texts: Any) -> tuple[Any, Any]:
        """large_binary → large_string, and string: the first reason of each text."""
        failed = pa.nulls(len(texts), pa.string())
        for cleaner in self._cleaners:
            if hasattr(cleaner, "attempt"):
                was_empty = pc.equal(pc.binary_length(texts), 0)
                texts, reasons = cleaner.attempt(texts)
                failed = pc.coalesce(failed, pc.if_else(was_empty, EMPTY, reasons))
            else:
                texts = cleaner.clean(texts)
        empty = pc.if_else(pc.equal(pc.binary_length(texts), 0), EMPTY, pa.scalar(None, pa.string()))
        return texts, pc.if_else(pc.is_null(empty), empty, pc.coalesce(failed, empty))

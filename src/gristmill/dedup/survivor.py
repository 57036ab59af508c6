"""Which document of a cluster stays: the first, the longest, or the one that a metadata column ranks highest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LOWEST, LONGEST, HIGHEST = "lowest", "longest", "highest"


def check_survivor(survivor: Any) -> None:
    """Raises ValueError for what is no choice of a survivor."""
    if survivor in (LOWEST, LONGEST):
        return
    if isinstance(survivor, Mapping) and list(survivor) == [HIGHEST] and isinstance(survivor[HIGHEST], str):
        return
    raise ValueError(
        f"expected survivor: {LOWEST}, {LONGEST}, or {{{HIGHEST}: a metadata column of numbers}}, found {survivor!r}"
    )


def rank_column(survivor: Any) -> str | None:
    """The metadata column that ranks documents, if one does."""
    return survivor[HIGHEST] if isinstance(survivor, Mapping) else None


def rank_signal(survivor: Any, unit: str) -> str | None:
    """The column of sift's signals that ranks documents for this unit; None: the lowest position stays."""
    if survivor == LOWEST:
        return None
    return "bytes" if survivor == LONGEST else f"{unit}.rank"

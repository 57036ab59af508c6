"""All deduplicators of a recipe, each under a name of its own: the second exact one is called `exact_2`, and so are
its columns in the sketches, its folder and its entries in the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

TEXT = "text"


def named(units: Sequence[Any]) -> list[tuple[str, Any]]:
    """The units in order, each with its name."""
    seen: Counter[str] = Counter()
    found = []
    for unit in units:
        seen[unit.NAME] += 1
        found.append((f"{unit.NAME}_{seen[unit.NAME]}" if seen[unit.NAME] > 1 else unit.NAME, unit))
    return found


def looked_at(units: Sequence[Any]) -> list[str]:
    """The metadata columns that these units need."""
    names = [name for unit in units for name in (column_of(unit), rank_column_of(unit))]
    return [name for name in dict.fromkeys(names) if name not in (None, TEXT, "id")]


def column_of(unit: Any) -> str:
    """What it sketches: `text`, `id`, or the name of a metadata column."""
    return str(unit.looked_at()) if hasattr(unit, "looked_at") else TEXT


def rank_column_of(unit: Any) -> Any:
    """The metadata column of numbers that decides who stays, or None."""
    return unit.rank_column() if hasattr(unit, "rank_column") else None


def sketches(
    units: Sequence[tuple[str, Any]], texts: Any, column: Callable[[str], Any], numbers: Callable[[str], Any]
) -> dict[str, Any]:
    """Every unit's columns for a batch of documents, named for the unit. `column(name)` gives other columns of the
    same documents as large_string arrays, `numbers(name)` as floating point."""
    found: dict[str, Any] = {}
    for name, unit in units:
        of_unit = texts if column_of(unit) == TEXT else column(column_of(unit))
        columns = unit.sketch(of_unit)
        found.update({name + key.removeprefix(unit.NAME): values for key, values in columns.items()})
        if (ranked_by := rank_column_of(unit)) is not None:
            found[f"{name}.rank"] = numbers(ranked_by)
    return found

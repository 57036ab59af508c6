"""The ledger: what entered each stage, what left it, and under which reason the rest went. It must balance.

Entries are made from the records of finished tasks, so the ledger of a resumed run is that of an undisturbed one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gristmill.errors import LedgerError
from gristmill.formats import files


@dataclass
class Entry:
    """One stage's account of one source, in one unit: entered = left + the sum of `gone`."""

    stage: str
    source: str
    unit: str  # "documents" or "tokens"
    entered: int
    left: int
    gone: dict[str, int] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    def difference(self) -> int:
        """Zero when the entry balances."""
        return self.entered - self.left - sum(self.gone.values())


class Ledger:
    """The entries of a run, in the order of the route."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def emptied(self) -> Ledger:
        """The same, as the route's begin finds it."""
        self.entries.clear()
        return self

    def add(self, entry: Entry) -> None:
        """Add an entry. Raises LedgerError where it does not balance, or differs from what the stage before left."""
        if entry.difference():
            gone = ", ".join(f"{reason} {count:,}" for reason, count in entry.gone.items())
            raise LedgerError(
                f"{entry.stage}: the books of source `{entry.source}` do not balance: {entry.entered:,} {entry.unit} "
                f"entered, {entry.left:,} left, {gone or 'none'} gone: {entry.difference():+,} unexplained\n"
                "  This is a mistake of Gristmill's, or a damaged output folder; nothing after this stage was written."
            )
        before = self._last(entry.source, entry.unit)
        if before is not None and before.left != entry.entered:
            raise LedgerError(
                f"{entry.stage}: {entry.entered:,} {entry.unit} of source `{entry.source}` entered, "
                f"but {before.stage} let {before.left:,} out"
            )
        self.entries.append(entry)

    def require_some(self, stage: str) -> None:
        """Raises LedgerError when a stage left nothing at all: an empty result is an error, not a success."""
        entries = [entry for entry in self.entries if entry.stage == stage]
        if sum(entry.left for entry in entries):
            return
        gone: dict[str, int] = {}
        for entry in entries:
            for reason, count in entry.gone.items():
                gone[reason] = gone.get(reason, 0) + count
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(gone.items(), key=lambda item: -item[1]))
        entered = sum(entry.entered for entry in entries)
        unit = entries[0].unit if entries else "documents"
        raise LedgerError(
            f"{stage}: expected some {unit} to remain, found none: {entered:,} entered; gone: {reasons or 'none'}\n"
            "  Look at the input and at the bounds of the filters."
        )

    def of(self, stage: str) -> list[Entry]:
        """The entries of a stage."""
        return [entry for entry in self.entries if entry.stage == stage]

    def stages(self) -> list[str]:
        """The stages that have entries, in order."""
        return list(dict.fromkeys(entry.stage for entry in self.entries))

    def left(self, source: str, unit: str) -> int:
        """What the last stage let out of a source."""
        entry = self._last(source, unit)
        return entry.left if entry else 0

    def _last(self, source: str, unit: str) -> Entry | None:
        matching = [entry for entry in self.entries if (entry.source, entry.unit) == (source, unit)]
        return matching[-1] if matching else None

    def write(self, output: Path) -> None:
        """Write `ledger.json`."""
        rows = [vars(entry) for entry in self.entries]
        files.write_json(output / "ledger.json", {"version": 1, "balanced": True, "entries": rows})

    @classmethod
    def read(cls, output: Path) -> Ledger:
        """The ledger of an output folder, its balance checked again."""
        ledger = cls()
        for row in files.read_json(output / "ledger.json")["entries"]:
            ledger.add(Entry(**row))
        return ledger


def total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sum of several maps of counts, key by key, in order of first appearance."""
    result: dict[str, int] = {}
    for count in counts:
        for key, value in count.items():
            result[key] = result.get(key, 0) + value
    return result

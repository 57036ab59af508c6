"""A deduplicator's memory of earlier runs, as the route uses it: what it sees of it, and what it adds at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gristmill.dedup.remembered import entry_name, index_path
from gristmill.engine.step import fingerprint
from gristmill.formats.dedup_index import DedupIndex
from gristmill.units import Choice

SETS = "sets-"  # begins the names of files of shingle sets


@dataclass(frozen=True)
class EarlierFile:
    """A file of an entry before this run's own."""

    path: str
    checksum: str
    documents: int
    run: int  # the number of its entry, from 0


def compares(unit: Any) -> bool:
    """Whether a deduplicator compares candidates, and its index therefore keeps what it compares."""
    return getattr(unit, "least_similarity", lambda: None)() is not None


class Remembered:
    """One deduplicator's index, or none."""

    def __init__(self, choice: Choice, output: Path, sums: Sequence[Any]) -> None:
        index = getattr(choice.make("deduplicator"), "index", None)
        self._index = None if index is None else DedupIndex(index_path(index), _parameters(choice))
        self._name = "" if index is None else entry_name(index, output)
        self._made_of = fingerprint(list(sums))

    def __bool__(self) -> bool:
        return self._index is not None

    def earlier(self) -> list[EarlierFile]:
        """What this run has to look at, oldest first."""
        return self._files(sets=False)

    def earlier_sets(self) -> list[EarlierFile]:
        """What its candidates are compared with, oldest first."""
        return self._files(sets=True)

    def _files(self, sets: bool) -> list[EarlierFile]:
        if self._index is None:
            return []
        return [
            EarlierFile(str(entry.folder / file.path), file.checksum, file.documents, run)
            for run, entry in enumerate(self._index.earlier(self._name, self._made_of))
            for file in entry.files
            if file.path.startswith(SETS) == sets
        ]

    def publish(self, files: Sequence[tuple[Path, int]]) -> None:
        """Add these files and their numbers of documents, in place of what the same run added before."""
        assert self._index is not None
        self._index.publish(self._name, self._made_of, files)


def _parameters(choice: Choice) -> dict[str, Any]:
    """What hashes depend on; what ranks documents does not change them."""
    parameters = {name: value for name, value in choice.sketching_literals().items() if name != "rank"}
    return {**parameters, **({"keeps": "sets"} if compares(choice.make("deduplicator")) else {})}

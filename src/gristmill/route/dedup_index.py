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


@dataclass(frozen=True)
class EarlierFile:
    """A file of an entry before this run's own."""

    path: str
    checksum: str
    documents: int


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
        if self._index is None:
            return []
        return [
            EarlierFile(str(entry.folder / file.path), file.checksum, file.documents)
            for entry in self._index.earlier(self._name, self._made_of)
            for file in entry.files
        ]

    def publish(self, files: Sequence[tuple[Path, int]]) -> None:
        """Add these files and their numbers of documents, in place of what the same run added before."""
        assert self._index is not None
        self._index.publish(self._name, self._made_of, files)


def _parameters(choice: Choice) -> dict[str, Any]:
    """What hashes depend on; what ranks documents does not change them."""
    return {name: value for name, value in choice.sketching_literals().items() if name != "rank"}

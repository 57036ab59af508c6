"""What deduplication remembers between runs: a folder with an entry for each run that used it.

    index.json               which deduplicator made it, and with which parameters
    00001-NAME/entry.json    the entry's number, name, what it was made of, its files with sizes and checksums
    00001-NAME/*.arrow       of documents that the run kept: hashes (hash_runs.py) or bits (bloom_bits.py)

An entry is written whole or not at all. A run sees the entries before its own, so running it again, however often and
whatever has been added since, sees what it saw the first time, and its entry takes the place of its old one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gristmill.errors import FormatError, ResumeError
from gristmill.formats.files import TEMPORARY_MARK, checksum, read_json, sweep, write_json

VERSION = 1
_HEAD, _ENTRY = "index.json", "entry.json"


@dataclass(frozen=True)
class EntryFile:
    """A file of an entry."""

    path: str
    bytes: int
    checksum: str
    documents: int


@dataclass(frozen=True)
class Entry:
    """What one run left."""

    number: int
    name: str
    made_of: str  # fingerprint of the documents that it deduplicated
    files: tuple[EntryFile, ...]
    folder: Path


class DedupIndex:
    """An index at a path, which need not be there yet. Opening it writes nothing."""

    def __init__(self, path: str | os.PathLike[str], parameters: Mapping[str, Any]) -> None:
        """Raises ResumeError where it was made with other parameters, FormatError where it is damaged."""
        self.path = Path(path)
        self._head = {"version": VERSION, "deduplicator": dict(parameters)}
        if not (self.path / _HEAD).exists():
            if self.path.exists() and any(self.path.iterdir()):
                raise ResumeError(f"expected an index of Gristmill's or an empty folder, found other files: {path}")
            return
        found = read_json(self.path / _HEAD)
        if found != self._head:
            differing = _differences(found, self._head)
            raise ResumeError(
                f"expected an index of `{parameters.get('name')}` with the recipe's parameters, found one made with "
                f"others ({differing}): {path}\n"
                "  Use the parameters it was made with, or name another `index`."
            )

    def entries(self) -> list[Entry]:
        """All entries, oldest first."""
        return sorted((_read_entry(file) for file in self.path.glob(f"*/{_ENTRY}")
                       if TEMPORARY_MARK not in file.parent.name), key=lambda entry: entry.number)  # fmt: skip

    def own(self, name: str, made_of: str) -> Entry | None:
        """This run's own entry: of its name, or made of the very same documents."""
        entries = self.entries()
        by_name = next((entry for entry in entries if entry.name == name), None)
        return by_name or next((entry for entry in entries if entry.made_of == made_of), None)

    def earlier(self, name: str, made_of: str) -> list[Entry]:
        """The entries that this run has to look at, oldest first."""
        own = self.own(name, made_of)
        return [entry for entry in self.entries() if own is None or entry.number < own.number]

    def publish(self, name: str, made_of: str, files: Sequence[tuple[Path, int]]) -> None:
        """Make these files (path, documents) this run's entry. Does nothing where they are it already."""
        own = self.own(name, made_of)
        described = tuple(EntryFile(path.name, path.stat().st_size, checksum(path), docs) for path, docs in files)
        if own is not None and (own.name, own.made_of, own.files) == (name, made_of, described):
            return
        number = own.number if own is not None else max((entry.number for entry in self.entries()), default=0) + 1
        target = self.path / f"{number:05}-{name}"
        temporary = self.path / f"{target.name}{TEMPORARY_MARK}{os.getpid()}"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        write_json(self.path / _HEAD, self._head)
        for path, _ in files:
            shutil.copyfile(path, temporary / path.name)
        described_entry = {"number": number, "name": name, "made_of": made_of,
                           "files": [asdict(file) for file in described]}  # fmt: skip
        write_json(temporary / _ENTRY, described_entry)
        if own is not None:  # a kill between these two leaves no entry, and the same run again writes it
            shutil.rmtree(own.folder)
        temporary.rename(target)
        sweep(self.path)


def _read_entry(file: Path) -> Entry:
    value = read_json(file)
    try:
        files = tuple(EntryFile(**item) for item in value["files"])
        entry = Entry(value["number"], value["name"], value["made_of"], files, file.parent)
    except (KeyError, TypeError) as error:
        raise FormatError(f"expected an entry of a deduplication index, found something else: {file}") from error
    for each in files:
        path = file.parent / each.path
        if not path.exists() or path.stat().st_size != each.bytes:
            raise FormatError(
                f"expected {each.bytes:,} bytes, found another size or no file: {path}\n"
                "  Remove the entry's folder, and run the recipe that made it again."
            )
    return entry


def _differences(found: Any, wanted: Any) -> str:
    if not isinstance(found, Mapping) or not isinstance(found.get("deduplicator"), Mapping):
        return "no index of this version"
    old, new = found["deduplicator"], wanted["deduplicator"]
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return ", ".join(f"{name}: {old.get(name)} instead of {new.get(name)}" for name in names) or "another version"

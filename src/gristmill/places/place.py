"""Where an output folder lies. Here: a folder that all who work on it can see, on one machine or many.

What is at an address and cannot be opened as a file is a place of its own: engine/mirror.py.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

from gristmill.formats import files

UNREAD = "unread"  # in the place of a checksum: the file is checked when it is fetched


@dataclass(frozen=True)
class Needed:
    """A file of an earlier task that a task reads, and the record that speaks of it; both relative to the output."""

    path: str
    bytes: int
    checksum: str
    record: str


@dataclass(frozen=True)
class Place:
    """An output folder. `local` is where its files are opened."""

    local: Path
    remote: ClassVar[bool] = False  # whether files must be fetched before they can be opened

    @property
    def address(self) -> str:
        """What people call it."""
        return str(self.local)

    def refresh(self, folder: str) -> None:
        """Take notice of the records that others have written below a folder."""

    def size_of(self, path: Path) -> int | None:
        """The size of a file in bytes; None where there is none."""
        try:
            return path.stat().st_size
        except OSError:
            return None

    def checksum_of(self, path: Path) -> str | None:
        """The checksum of a file; None where there is none."""
        return files.checksum(path) if path.exists() else None

    def remove(self, paths: Iterable[Path]) -> None:
        """Take files away, in this order."""
        for path in paths:
            path.unlink(missing_ok=True)

    def push(self, paths: Iterable[Path], checksums: Iterable[str] = ()) -> None:
        """Let others see files that were written."""

    def bring(self, path: Path) -> None:
        """Lay a small file that somebody else may have written (a record, the ledger) where it can be read."""

    def fetch(self, needed: Iterable[Needed]) -> None:
        """Lay files where they can be opened."""

    @contextmanager
    def held(self, needed: Sequence[Sequence[Needed]]) -> Iterator[None]:
        """`fetch`, and the files stay for the time of the block."""
        yield

    def needs(
        self, work: Any, known: Mapping[str, Sequence[Needed]], seen: dict[int, tuple[tuple[Needed, ...], ...]]
    ) -> tuple[tuple[Needed, ...], ...]:
        """The files that a task's work names, of those that are known by path; here nobody needs to know. `seen` keeps
        what was found in a part that several tasks share."""
        return ()

    # What one run's processes tell each other, on whatever machine they are: small files, whole or absent.

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write or replace a file."""
        with files.atomic_file(self.local / name) as file:
            file.write(content)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file that is not there yet; False where it is. Of several at a time one succeeds."""
        target = self.local / name
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{target.name}{files.TEMPORARY_MARK}{os.getpid()}-new")
        temporary.write_bytes(content)
        try:
            os.link(temporary, target)  # whole at once, and refused where there is one; on NFS too
        except FileExistsError:
            return False
        finally:
            temporary.unlink()
        return True

    def read_bytes(self, name: str) -> bytes | None:
        """A file's content; None where there is none."""
        try:
            return (self.local / name).read_bytes()
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        """The names of the files in a folder."""
        path = self.local / folder
        found = [each.name for each in path.iterdir() if each.is_file()] if path.is_dir() else []
        return sorted(name for name in found if files.TEMPORARY_MARK not in name)

    def remove_file(self, name: str) -> None:
        """Take a file away, if it is there."""
        (self.local / name).unlink(missing_ok=True)

    def remove_folder(self, folder: str) -> None:
        """Take a folder away with all that is in it."""
        shutil.rmtree(self.local / folder, ignore_errors=True)


def strings_in(value: Any) -> Iterator[str]:
    """All texts in a task's work, however deep: the paths are among them."""
    if isinstance(value, (str, Path)):
        yield str(value)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from strings_in(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from strings_in(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from strings_in(each)

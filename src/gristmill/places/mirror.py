"""An output at an address, and the folder of this machine that stands for it while tasks run.

Tasks see local paths. Before one runs, the files that its work names are fetched and checked against their checksums;
after it, its files are written to the address, and then its record. Records are fetched when they are looked for. So
what is at the address is at any moment what a local output folder would be: files whole, records last.

The local folder is a cache, shared by the processes of this machine and bounded: what was used longest ago goes, never
what a task at work holds. Losing it costs fetching.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any, ClassVar

from gristmill.errors import TaskError
from gristmill.formats import files
from gristmill.places.addresses import file_system, retried, write_retried
from gristmill.places.place import UNREAD, Needed, Place, strings_in

DEFAULT_BYTES = 100_000_000_000
_THREADS = 8  # that fetch or write side by side
_HOLDS, _LOCK = ".holds", ".room.lock"
_SUM, _STAMP = ".sum", ".stamp"  # beside a file: its checksum; beside a record: which version of it this is
_MARKS = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "mtime", "created")  # what changes with a file
_SIZES: dict[str, dict[str, int]] = {}  # address → files there by their names, as last listed or written


@dataclass(frozen=True)
class Mirror(Place):
    """See above. Frozen and small: it travels to workers; what it remembers is the process's."""

    remote_address: str = ""
    most_bytes: int = DEFAULT_BYTES
    remote: ClassVar[bool] = True

    @property
    def address(self) -> str:
        return self.remote_address

    @property
    def _sizes(self) -> dict[str, int]:
        return _SIZES.setdefault(self.remote_address, {})

    def _at(self, name: str) -> str:
        return f"{self.remote_address}/{name}"

    def _name(self, path: Path) -> str:
        return path.relative_to(self.local).as_posix()

    def refresh(self, folder: str) -> None:
        """List what is below a folder, and fetch the records that are new or changed."""
        address = self._at(folder)
        system, below = file_system(address)
        found = retried(address, lambda: _listed(system, below))
        for name in [name for name in self._sizes if name.startswith(f"{folder}/")]:
            del self._sizes[name]
        changed = []
        for path, (size_bytes, stamp) in found.items():
            name = f"{folder}/{path}"
            self._sizes[name] = size_bytes
            if name.endswith(".json") and "/" not in path and self._stamp(name) != stamp:
                changed.append((name, stamp))
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(lambda each: self._fetch_record(*each), changed))
        for record in (self.local / folder).glob("*.json") if (self.local / folder).is_dir() else ():
            mark = record.with_name(f"{record.name}{_STAMP}")
            if self._name(record) not in self._sizes and mark.exists():  # without, it is about to be written there
                record.unlink(missing_ok=True)
                mark.unlink(missing_ok=True)

    def _stamp(self, name: str) -> str:
        try:
            return (self.local / f"{name}{_STAMP}").read_text() if (self.local / name).exists() else ""
        except FileNotFoundError:
            return ""

    def _fetch_record(self, name: str, stamp: str) -> None:
        content = self.read_bytes(name)
        if content is None:
            return
        with files.atomic_file(self.local / name) as file:
            file.write(content)
        _write(self.local / f"{name}{_STAMP}", stamp)

    def size_of(self, path: Path) -> int | None:
        return self._sizes.get(self._name(path))

    def checksum_of(self, path: Path) -> str | None:
        return UNREAD if self._name(path) in self._sizes else None

    def remove(self, paths: Iterable[Path]) -> None:
        for path in paths:
            path.unlink(missing_ok=True)
            self.remove_file(self._name(path))
            self._sizes.pop(self._name(path), None)

    def push(self, paths: Iterable[Path], checksums: Iterable[str] = ()) -> None:
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(self._push, paths, chain(checksums, repeat(""))))

    def _push(self, path: Path, checksum: str) -> None:
        name = self._name(path)
        system, there = file_system(self._at(name))
        size_bytes = path.stat().st_size
        write_retried(self._at(name), lambda: system.put_file(str(path), there))
        self._sizes[name] = size_bytes
        if checksum:  # it may be read from here as if it had been fetched
            _write(self.local / f"{name}{_SUM}", checksum)
        else:
            _write(self.local / f"{name}{_STAMP}", "written here")

    def bring(self, path: Path) -> None:
        content = self.read_bytes(self._name(path))
        if content is None:
            path.unlink(missing_ok=True)
        else:
            with files.atomic_file(path) as file:
                file.write(content)

    def fetch(self, needed: Iterable[Needed]) -> None:
        wanted = [each for each in needed if not self._is_here(each)]
        if not wanted:
            return
        self._make_room(sum(each.bytes for each in wanted))
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(self._fetch, wanted))

    def _is_here(self, needed: Needed) -> bool:
        path = self.local / needed.path
        try:
            if path.stat().st_size != needed.bytes:
                return False
            known = (self.local / f"{needed.path}{_SUM}").read_text()
            os.utime(path)  # used now
        except FileNotFoundError:
            return False
        return known == needed.checksum

    def _fetch(self, needed: Needed) -> None:
        path, address = self.local / needed.path, self._at(needed.path)
        system, there = file_system(address)
        try:
            with files.atomic(path) as temporary:
                retried(address, lambda: system.get_file(there, str(temporary)))
                found = files.checksum(temporary)
                if found != needed.checksum:
                    raise _DamagedError
        except (FileNotFoundError, _DamagedError) as error:
            what = "damaged (its checksum differs)" if isinstance(error, _DamagedError) else "missing"
            if needed.record:
                self.remove_file(needed.record)
            raise TaskError(f"{what}: {address}\n  `gristmill run` with the same recipe makes it again.") from error
        _write(self.local / f"{needed.path}{_SUM}", found)

    def list_all(self) -> list[str]:
        """The names of all files there."""
        system, there = file_system(self.remote_address)
        return list(retried(self.remote_address, lambda: _listed(system, there)))

    def download(self, names: Iterable[str]) -> None:
        """Lay down files as they are there now, whatever was here; those that are not there are left out."""
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(self._download, names))

    def _download(self, name: str) -> None:
        system, there = file_system(self._at(name))
        (self.local / f"{name}{_SUM}").unlink(missing_ok=True)
        try:
            with files.atomic(self.local / name) as temporary:
                retried(self._at(name), lambda: system.get_file(there, str(temporary)))
        except FileNotFoundError:
            (self.local / name).unlink(missing_ok=True)

    def forget_but(self, names: Iterable[str]) -> None:
        """Take away what is here and not there."""
        there = set(names)
        for path in [path for path in self.local.rglob("*") if path.is_file()]:
            if self._name(path) not in there and path.name != _LOCK:
                path.unlink(missing_ok=True)

    @contextmanager
    def held(self, needed: Sequence[Sequence[Needed]]) -> Iterator[None]:
        flat = [each for some in needed for each in some]
        hold = self.local / _HOLDS / str(os.getpid())
        hold.parent.mkdir(parents=True, exist_ok=True)
        with self._locked():
            hold.write_text("\n".join(each.path for each in flat))
        try:
            self.fetch(flat)
            yield
        finally:
            hold.unlink(missing_ok=True)

    def needs(
        self, work: Any, known: Mapping[str, Sequence[Needed]], seen: dict[int, tuple[tuple[Needed, ...], ...]]
    ) -> tuple[tuple[Needed, ...], ...]:
        found: list[tuple[Needed, ...]] = []
        for value in vars(work).values() if hasattr(work, "__dict__") else (work,):
            if isinstance(value, tuple) and value:  # shared by all tasks of a step that look at everything
                if id(value) not in seen:
                    seen[id(value)] = (_known_in(value, known),)
                found += seen[id(value)]
            else:
                found.append(_known_in(value, known))
        return tuple(some for some in found if some)

    def _make_room(self, wanted_bytes: int) -> None:
        """Let go of what was used longest ago, until there is room; never of what somebody holds."""
        with self._locked():
            held = {name for hold in (self.local / _HOLDS).glob("*") if _lives(hold) for name in _lines(hold)}
            there = [path for path in self.local.rglob("*") if path.is_file() and not _is_small(path)]
            statuses = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in there if path.exists())
            too_much_bytes = sum(size for _, size, _ in statuses) + wanted_bytes - self.most_bytes
            for _, size_bytes, path in statuses:
                if too_much_bytes <= 0:
                    return
                if self._name(path) not in held:
                    path.unlink(missing_ok=True)
                    too_much_bytes -= size_bytes

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import fcntl

        self.local.mkdir(parents=True, exist_ok=True)
        with open(self.local / _LOCK, "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def write_bytes(self, name: str, content: bytes) -> None:
        system, there = file_system(self._at(name))
        write_retried(self._at(name), lambda: system.pipe_file(there, content))

    def create(self, name: str, content: bytes) -> bool:
        system, there = file_system(self._at(name))

        def create() -> bool:
            try:
                system.pipe_file(there, content, mode="create")
            except FileExistsError:
                return bool(system.cat_file(there) == content)  # an earlier try may have succeeded unheard
            return True

        return write_retried(self._at(name), create)

    def read_bytes(self, name: str) -> bytes | None:
        system, there = file_system(self._at(name))
        try:
            content: bytes = retried(self._at(name), lambda: system.cat_file(there))
        except FileNotFoundError:
            return None
        return content

    def names(self, folder: str) -> list[str]:
        system, there = file_system(self._at(folder))
        return sorted(name for name in retried(self._at(folder), lambda: _listed(system, there)) if "/" not in name)

    def remove_file(self, name: str) -> None:
        system, there = file_system(self._at(name))

        def remove() -> None:
            try:
                system.rm_file(there)
            except FileNotFoundError:
                return

        retried(self._at(name), remove)

    def remove_folder(self, folder: str) -> None:
        system, there = file_system(self._at(folder))
        for name in retried(self._at(folder), lambda: _listed(system, there)):
            self.remove_file(f"{folder}/{name}")


def _write(path: Path, text: str) -> None:
    with files.atomic_file(path) as file:
        file.write(text.encode())


class _DamagedError(Exception):
    """A fetched file is not what its record says."""


def mirror_of(address: str, scratch: str | None = None, most_bytes: int = DEFAULT_BYTES) -> Mirror:
    """The place at an address; its folder on this machine lies in `scratch`, or where temporary files do."""
    address = address.rstrip("/")
    own = f"gristmill-{os.getuid()}" if hasattr(os, "getuid") else "gristmill"
    root = Path(scratch) if scratch else Path(tempfile.gettempdir()) / own
    return Mirror(root.absolute() / hashlib.sha256(address.encode()).hexdigest()[:16], address, most_bytes)


def _listed(system: Any, folder: str) -> dict[str, tuple[int, str]]:
    """Files below a folder: by their names in it, size and a stamp that changes when they do."""
    try:
        found = system.find(folder, detail=True)
    except FileNotFoundError:
        return {}
    prefix = folder.rstrip("/") + "/"
    return {
        name.removeprefix(prefix): (int(info.get("size") or 0), "-".join(str(info.get(mark, "")) for mark in _MARKS))
        for name, info in found.items()
        if info["type"] == "file"
    }


def _known_in(value: Any, known: Mapping[str, Sequence[Needed]]) -> tuple[Needed, ...]:
    return tuple(dict.fromkeys(needed for text in strings_in(value) for needed in known.get(text, ())))


def _is_small(path: Path) -> bool:
    return path.suffix in (".json", _STAMP, _SUM, ".lock") or path.parent.name == _HOLDS


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []


def _lives(hold: Path) -> bool:
    try:
        os.kill(int(hold.name), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

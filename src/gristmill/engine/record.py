"""The record of a finished task: at once the done-mark, the ledger's entry and the list of what was written.

It is written last, so a record that exists speaks of files that are whole. Times and memory stand only here.
A record carries the checksum of its own content: one whose counts were changed on the disk counts for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import xxhash

from gristmill.engine.step import Step, Task
from gristmill.errors import FormatError
from gristmill.formats import files

VERSION = 2


@dataclass(frozen=True)
class WrittenFile:
    """A file a task made; `path` is relative to the step's folder."""

    path: str
    bytes: int
    checksum: str


@dataclass(frozen=True)
class Record:
    """One finished task."""

    version: int
    fingerprint: str
    made_from: Mapping[str, Any]  # what the fingerprint covers
    counts: Mapping[str, Any]
    files: tuple[WrittenFile, ...]
    notices: tuple[str, ...]
    seconds: float
    finished: str  # ISO time
    input_bytes: int
    peak_memory_bytes: int

    def file(self, name: str) -> WrittenFile:
        """The written file of that path."""
        return next(file for file in self.files if file.path == name)


def path_of(folder: Path, task_name: str) -> Path:
    """Where a task's record lies."""
    return folder / f"{task_name}.json"


def write(folder: Path, task_name: str, record: Record) -> None:
    """Write the record: the last thing a task does."""
    content = json.loads(json.dumps(asdict(record)))  # as it will be read: lists for tuples, texts for keys
    files.write_json(path_of(folder, task_name), {**content, "checksum": _checksum(content)})


def written(folder: Path, path: str) -> WrittenFile:
    """What lies at `path` below the folder, as a record tells it."""
    return WrittenFile(path, (folder / path).stat().st_size, files.checksum(folder / path))


def now() -> str:
    """The time, as records hold it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def read(folder: Path, task_name: str) -> Record | None:
    """The record, or None where there is none or it is damaged (then the task simply runs again)."""
    path = path_of(folder, task_name)
    try:
        value = files.read_json(path)
        if value.pop("checksum") != _checksum(value):
            return None
        written = tuple(WrittenFile(**item) for item in value.pop("files"))
        return Record(files=written, **{**value, "notices": tuple(value["notices"])})
    except (FileNotFoundError, FormatError, TypeError, KeyError, AttributeError):
        return None


def is_damaged(path: Path) -> bool:
    """Whether a JSON file below an output folder was a record once, and is none now."""
    try:
        value = files.read_json(path)
    except FormatError:
        return True
    marked = isinstance(value, Mapping) and not {"checksum", "made_from"}.isdisjoint(value)
    return marked and read(path.parent, path.stem) is None


def _checksum(content: Mapping[str, Any]) -> str:
    return xxhash.xxh3_128_hexdigest(json.dumps(content, sort_keys=True).encode())


def current(folder: Path, step: Step, task: Task, size_of: Callable[[Path], int | None]) -> tuple[Record | None, str]:
    """(record, "") when the task is done and its files are in place; else (None, why it must run)."""
    record = read(folder, task.name)
    if record is None or record.version != VERSION:
        return None, "its record is damaged" if path_of(folder, task.name).exists() else "not done yet"
    if record.fingerprint != step.task_fingerprint(task):
        return None, difference(record.made_from, step.recipe_of(task))
    if lack := lacking(folder, record, size_of):
        return None, lack
    return record, ""


def lacking(folder: Path, record: Record, size_of: Callable[[Path], int | None]) -> str:
    """Which of a record's files is missing or of another size, as a sentence; "" where all is there."""
    for file in record.files:
        size_bytes = size_of(folder / file.path)
        if size_bytes is None:
            return f"{file.path} is missing"
        if size_bytes != file.bytes:
            return f"{file.path} has {size_bytes:,} bytes instead of {file.bytes:,}"
    return ""


def difference(old: Any, new: Any) -> str:
    """The first few places where two plain values differ, as a sentence for people."""
    found = [f"{place}: {before} -> {after}" for place, before, after in differences(old, new)]
    shown = "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")
    return shown or "changed"


def differences(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, str, str]]:
    """Each place where two plain values differ, and the two, in short."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from differences(old.get(key), new.get(key), f"{place}.{key}".lstrip("."))
    elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif old != new:
        yield place, _short(old), _short(new)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."

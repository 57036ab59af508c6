"""Files that are whole or absent: temporary name, flush, rename. And the checksum that tells if they still are.

Every byte Gristmill writes below an output folder goes through `atomic`, so a kill at any moment leaves either
the old file, the new one, or a `*.tmp-PID` leftover that the next run sweeps away.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import xxhash

from gristmill.errors import FormatError

TEMPORARY_MARK = ".tmp-"
_BLOCK_BYTES = 8 << 20


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a temporary path in the same folder; on success it becomes `path`, on failure it is removed."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}{TEMPORARY_MARK}{os.getpid()}")
    try:
        yield temporary
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """`atomic`, already opened for writing bytes."""
    with atomic(path) as temporary, open(temporary, "wb") as file:
        yield file


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` as indented JSON, keys in the order given."""
    with atomic_file(path) as file:
        file.write(json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value in a JSON file of ours. Raises FormatError where it is damaged."""
    try:
        return json.loads(Path(path).read_bytes())
    except ValueError as error:
        raise FormatError(f"expected JSON, found something else ({error}): {path}") from error


def checksum(path: str | os.PathLike[str]) -> str:
    """XXH3-128 of the file's bytes, as hex, read in blocks."""
    digest = xxhash.xxh3_128()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def scratch_folder(beside: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder of its own inside `beside` for what need not survive; gone afterwards, or with the next sweep."""
    folder = Path(beside) / f"scratch{TEMPORARY_MARK}{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(folder: str | os.PathLike[str]) -> int:
    """Remove what killed writers left below `folder`; returns how many files and folders that were."""
    leftovers = sorted(Path(folder).rglob(f"*{TEMPORARY_MARK}*"))
    for path in leftovers:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return len(leftovers)

"""From what a recipe says to the files it means.

What enters: a path, a glob, a folder, or any of these as an fsspec address. What leaves: the files, sorted by path,
each with its size and a stamp. Nothing is opened. No file at all is an error, never an empty list.
"""

from __future__ import annotations

import glob
import itertools
import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from gristmill.errors import SourceError
from gristmill.sources.opening import explained, file_system, is_remote
from gristmill.sources.piece import SAVED_DATASET_MARKS, InputFile, Piece
from gristmill.sources.registry import format_name, known_suffixes

# What file systems call the things that change when a file does: S3, Google, Azure, Hugging Face, HTTP, local.
_LOCAL_STAMP = re.compile(r"\d+-\d{12,}")  # bytes, and nanoseconds of the last change, see _local_file
_MARKS = ("ETag", "etag", "md5Hash", "blob_id", "LastModified", "last_modified", "mtime")


def find(path: str, left_out: list[str] | None = None) -> list[InputFile]:
    """The files behind a path, a glob, a folder or an address, sorted by path.

    A folder means all readable files below it. Hidden files, and files with a suffix that no reader knows, are
    left out of folders and globs; a file that is named itself must have a known one. Symbolic links that lead out of
    the folder (of a glob: of the part before its first wildcard) are not followed, but added to `left_out`: what lies
    in a folder from a stranger must not read what does not. A link that is named itself is followed.
    """
    links = [] if left_out is None else left_out
    files = _find_remote(path) if is_remote(path) else _find_local(Path(path).expanduser(), links)
    for file in files:
        _check_encodable(file.path)
    return sorted(files, key=lambda file: file.path)


def _find_local(path: Path, left_out: list[str]) -> list[InputFile]:
    with explained(str(path)):
        if path.is_file():
            _check_suffix(str(path))
            return [_local_file(str(path), path.stat())]
        if path.is_dir():
            _refuse_saved_dataset(path)
            root = os.path.realpath(path)
            below = _files_below(str(path), root, (), left_out)
            files = [_local_file(entry.path, entry.stat()) for entry in below]
            found = "a folder with none that can be read"
        else:
            matches = [match for match in map(Path, glob.glob(str(path), recursive=True)) if match.is_file()]  # noqa: PTH207
            readable = [match for match in matches if format_name(match.name, {})]
            root = os.path.realpath(_before_wildcards(path))
            outside = {match for match in readable if not _is_below(os.path.realpath(match), root)}
            left_out += sorted(map(str, outside))
            files = [_local_file(str(match), match.stat()) for match in readable if match not in outside]
            found = f"{len(matches)} that match, none of a known suffix" if matches else "nothing of that name"
    if left_out and not files:
        found = f"{len(left_out)} links that lead out of it, which are not followed ({left_out[0]}): name them directly"
    return files or _complain(str(path), found)


def links_left_out(path: str) -> list[str]:
    """The symbolic links below a path that lead out of it: `find` does not follow them."""
    found: list[str] = []
    find(path, found)
    return found


def _before_wildcards(path: Path) -> Path:
    """The folder that a glob looks into: its parts before the first with a wildcard."""
    parts = list(itertools.takewhile(lambda part: not glob.has_magic(part), path.parts))
    return Path(*parts)


def _is_below(real: str, root: str) -> bool:
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


def _refuse_saved_dataset(folder: Path) -> None:
    """Its description files are JSON, too, but no documents; and its rows may be in another order than its files'."""
    for mark in SAVED_DATASET_MARKS:
        if (folder / mark).is_file():
            raise SourceError(
                f"expected a folder of raw files, found a dataset saved by `datasets`: {folder}\n"
                "  Name it with `dataset:` instead of `path:`."
            )


def _files_below(folder: str, root: str, above: tuple[str, ...], left_out: list[str]) -> Iterator[os.DirEntry[str]]:
    """The readable files below a folder. Links are followed, unless out of `root` or to a folder that this one lies
    in."""
    real = os.path.realpath(folder)
    if real in above:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_symlink() and not _is_below(os.path.realpath(entry.path), root):
                if entry.is_dir() or (entry.is_file() and format_name(entry.name, {})):
                    left_out.append(entry.path)
                continue
            if entry.is_dir():
                yield from _files_below(entry.path, root, (*above, real), left_out)
            elif entry.is_file() and format_name(entry.name, {}):
                yield entry


def _local_file(path: str, status: os.stat_result) -> InputFile:
    return InputFile(path, status.st_size, f"{status.st_size}-{status.st_mtime_ns}")


def require_unchanged(piece: Piece) -> None:
    """Raises SourceError where a local file is no longer the one that the run was planned with: what was read of it
    may be half of one and half of another."""
    if is_remote(piece.path) or not _LOCAL_STAMP.fullmatch(piece.stamp):
        return
    with explained(piece.path):
        found = _local_file(piece.path, os.stat(piece.path)).stamp  # noqa: PTH116
    if found != piece.stamp:
        raise SourceError(
            f"expected a file that stays as it was when the run began, found it changed meanwhile: {piece.path}\n"
            "  Run the same command again: it plans anew, and reads again what has changed."
        )


def _find_remote(path: str) -> list[InputFile]:
    system, name = file_system(path)
    with explained(path):
        if system.exists(name):
            info = system.info(name)
            if info["type"] != "directory":
                _check_suffix(path)
                return [_remote_file(system, info)]
            matches = list(_visible(system.find(name, detail=True), below=name))
        else:
            matches = [each for each in system.glob(name, detail=True).values() if each["type"] == "file"]
    files = [_remote_file(system, each) for each in matches if format_name(each["name"], {})]
    return files or _complain(path, f"{len(matches)} files, none of a known suffix")


def _visible(found: dict[str, dict[str, Any]], below: str) -> Iterator[dict[str, Any]]:
    for name, info in found.items():
        parts = name[len(below) :].split("/")
        if not any(part.startswith(".") for part in parts):
            yield info


def _remote_file(system: Any, info: dict[str, Any]) -> InputFile:
    size = info.get("size") or 0
    marks = [info[key] for key in _MARKS if info.get(key)] or [info.get("created")]
    plain = [mark.timestamp() if isinstance(mark, datetime) else mark for mark in marks]
    return InputFile(system.unstrip_protocol(info["name"]), size, "-".join(map(str, [size, *plain])))


def _check_suffix(path: str) -> None:
    if format_name(path, {}) is None:
        raise SourceError(f"expected a file of a known suffix, found {path}\n  Known: {known_suffixes()}.")


def _check_encodable(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise SourceError(
            f"expected a file name that is valid UTF-8, found {os.fsencode(path)!r}\n  Rename the file."
        ) from error


def _complain(path: str, found: str) -> NoReturn:
    raise SourceError(f"expected at least one file, found {found}: {path}\n  Looked for {known_suffixes()}.")

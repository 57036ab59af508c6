"""Finished runs at an address, for their readers: a local folder in which files appear when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gristmill.errors import ResumeError
from gristmill.places.addresses import is_remote
from gristmill.places.mirror import Mirror, mirror_of
from gristmill.places.place import Needed

_OPENED: dict[Path, Mirror] = {}
_FIRST = ("ledger.json", "recipe.yaml", "mixture.csv", "run.json", "drops.json", "manifest.json", "stages.json")
_FIRST_TOO = ("tokenizer.json", "tokenizer.spec.json")


def opened(output: str | os.PathLike[str]) -> Path:
    """A local folder for an output: itself, or the one that stands for its address, with the small files that say what
    is in it. Others come by `bring`."""
    address = os.fspath(output)
    if not is_remote(address):
        return Path(address)
    mirror = mirror_of(address)
    names = _require_some(mirror)
    mirror.download([name for name in names if name.rsplit("/", 1)[-1] in (*_FIRST, *_FIRST_TOO)])
    _OPENED[mirror.local] = mirror
    return mirror.local


def opened_whole(output: str | os.PathLike[str]) -> Path:
    """The same with all files, fetched anew, whatever was fetched before."""
    address = os.fspath(output)
    if not is_remote(address):
        return Path(address)
    mirror = mirror_of(address)
    names = _require_some(mirror)
    mirror.forget_but(names)
    mirror.download(names)
    return mirror.local


def _require_some(mirror: Mirror) -> list[str]:
    if names := mirror.list_all():
        return names
    raise ResumeError(
        f"expected the output of a run, found nothing: {mirror.address}\n"
        "  Name the recipe's `output.path`, and look whether its run has ended."
    )


def bring(path: Path) -> Path:
    """The path, its file fetched if it belongs to an opened output and is there."""
    for local, mirror in _OPENED.items():
        if path.is_relative_to(local):
            mirror.download([path.relative_to(local).as_posix()])
    return path


def fetcher_of(folder: Path) -> Callable[[Path, int, str], None] | None:
    """What fetches a file (path, bytes, checksum) below an opened output; None where files are there already."""
    for local, mirror in _OPENED.items():
        if folder.is_relative_to(local):
            return partial(_fetch, mirror)
    return None


def _fetch(mirror: Mirror, path: Path, size_bytes: int, checksum: str) -> None:
    mirror.fetch([Needed(path.relative_to(mirror.local).as_posix(), size_bytes, checksum, record="")])

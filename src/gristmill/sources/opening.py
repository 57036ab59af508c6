"""Raw files as binary file objects: local paths by plain `open`, everything with `://` in it by fsspec."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from gristmill.errors import SourceError


def is_remote(path: str) -> bool:
    """Whether fsspec must open it. `file://` counts, for it is an address, too."""
    return "://" in path


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turns what may go wrong when a path is looked up or opened into a SourceError that names it."""
    try:
        yield
    except OSError as error:
        found = error.strerror or str(error) or type(error).__name__
        raise SourceError(f"expected a file that can be read, found `{found}`: {path}") from error
    except (ImportError, ValueError) as error:  # fsspec: no driver for this kind of address
        raise SourceError(f"cannot reach {path}: {error}") from error


def file_system(path: str) -> tuple[Any, str]:
    """The fsspec file system of an address, and what the address is called there."""
    from fsspec.core import url_to_fs

    with explained(path):
        system, name = url_to_fs(path)
    return system, name


def open_bytes(path: str, start: int = 0) -> IO[bytes]:
    """The file, open for reading from byte `start` on. Closing it is the caller's work."""
    with explained(path):
        if is_remote(path):
            system, name = file_system(path)
            file = cast("IO[bytes]", system.open(name, "rb"))
        else:
            file = cast("IO[bytes]", io.FileIO(path))
        if start:
            file.seek(start)
    return file

"""Files that units are given by path or address: word lists, models. Named by what they hold.

What enters: a local path or any fsspec address. What leaves: bytes, or for a big file a local path to map; and the
digest of its bytes, which stands for the path in fingerprints. A file that is not there is a FormatError that says so.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import xxhash

from gristmill.errors import FormatError
from gristmill.formats.files import atomic, checksum


def read_bytes(address: str) -> bytes:
    """All that the file holds."""
    try:
        if "://" not in address:
            return Path(address).read_bytes()
        import fsspec

        with fsspec.open(address, "rb") as file:
            return bytes(file.read())
    except (OSError, ValueError, ImportError) as error:
        raise FormatError(f"expected a file that can be read, found none: {address} ({error})") from error


def read_lines(address: str) -> list[str]:
    """The lines of a text file, without white space at their ends, empty ones and comments (`#`) left out."""
    lines = (line.strip() for line in read_bytes(address).decode("utf-8", "replace").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def local_path(address: str) -> str:
    """The file itself where it is local, else a copy of it in the user's cache, made once: processes that map it share
    its memory."""
    if "://" not in address:
        return address
    import fsspec

    try:
        system, path = fsspec.core.url_to_fs(address)
        version = str(system.ukey(path))
        name = f"{xxhash.xxh3_128_hexdigest(f'{address} {version}'.encode())}-{Path(path).name}"
        copy = _cache_folder() / name
        if not copy.exists():
            with atomic(copy) as temporary:
                system.get_file(path, str(temporary))
    except (OSError, ValueError, ImportError) as error:
        raise FormatError(f"expected a file that can be read, found none: {address} ({error})") from error
    return str(copy)


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gristmill"


def digest(address: str) -> str:
    """XXH3-128 of what the file holds, as hex."""
    if "://" in address:
        return _remote_digest(address)
    try:
        stamp = Path(address).stat()
        return _local_digest(address, stamp.st_size, stamp.st_mtime_ns)
    except OSError as error:
        raise FormatError(f"expected a file that can be read, found none: {address} ({error})") from error


@lru_cache(maxsize=64)
def _local_digest(path: str, size_bytes: int, changed_ns: int) -> str:
    """Read once as long as nobody writes it: a recipe asks several times, and a model may have gigabytes."""
    return checksum(path)


@lru_cache(maxsize=64)
def _remote_digest(address: str) -> str:
    """Asked once a process: downloading a model again for every step would cost more than it tells."""
    return xxhash.xxh3_128_hexdigest(read_bytes(address))

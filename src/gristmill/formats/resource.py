"""Small files that units are given by path or address: word lists, models. Read whole, named by what they hold.

What enters: a local path or any fsspec address. What leaves: bytes, and their digest, which stands for the path in
fingerprints. A file that is not there is a FormatError that says so.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import xxhash

from gristmill.errors import FormatError
from gristmill.formats.files import checksum


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


def digest(address: str) -> str:
    """XXH3-128 of what the file holds, as hex."""
    if "://" in address:
        return _remote_digest(address)
    try:
        return checksum(address)
    except OSError as error:
        raise FormatError(f"expected a file that can be read, found none: {address} ({error})") from error


@lru_cache(maxsize=64)
def _remote_digest(address: str) -> str:
    """Asked once a process: downloading a model again for every step would cost more than it tells."""
    return xxhash.xxh3_128_hexdigest(read_bytes(address))

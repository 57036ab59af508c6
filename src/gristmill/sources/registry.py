"""The formats that can be read, as a table. Adding one is one module and one row here.

A format's module has `read(piece, columns, batch_bytes)`, an iterator of batches as rows.py makes them. One that is
cut by UNITS also has `unit_bytes(path)`: the uncompressed size of each row group or record batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Any

from gristmill.errors import SourceError, unknown_name


class Cut(Enum):
    """How a file of a format can be divided, and what start and stop of a piece then count."""

    BYTES = "byte ranges, each found by seeking; ranges of decompressed bytes where the file is compressed"
    STREAM = "ranges of decompressed bytes, found only by reading from the front"
    UNITS = "ranges of row groups or record batches"
    WHOLE = "not at all"
    ROWS = "ranges of rows"


@dataclass(frozen=True)
class Format:
    """One row of the table."""

    module: str
    cut: Cut
    suffixes: tuple[str, ...] = ()
    compressible: bool = False
    expansion: float = 1.0  # bytes of documents for a byte on disk, a guess for files that are not worth opening


FORMATS: Mapping[str, Format] = {
    "jsonl": Format("jsonl", Cut.BYTES, (".jsonl", ".ndjson", ".json"), compressible=True),
    "csv": Format("delimited", Cut.STREAM, (".csv",), compressible=True),
    "tsv": Format("delimited", Cut.STREAM, (".tsv",), compressible=True),
    "text": Format("text", Cut.WHOLE, (".txt", ".md"), compressible=True),
    "lines": Format("text", Cut.BYTES, compressible=True),
    "paragraphs": Format("text", Cut.STREAM, compressible=True),
    "warc": Format("warc", Cut.STREAM, (".warc", ".wet"), compressible=True),
    "parquet": Format("parquet", Cut.UNITS, (".parquet",), expansion=3.0),
    "arrow": Format("arrow", Cut.UNITS, (".arrow", ".feather", ".ipc")),
    "huggingface": Format("huggingface", Cut.ROWS),
}

# Suffix of a compressed file: bytes that come out for a byte that goes in, a guess for files not worth opening.
COMPRESSIONS: Mapping[str, float] = {".gz": 4.0, ".zst": 4.0, ".bz2": 5.0, ".xz": 5.0}

# Option of a source: for each of its values, the format that takes the place of another one.
OPTIONS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "unit": {"file": {}, "line": {"text": "lines"}, "paragraph": {"text": "paragraphs"}},
}

_BY_SUFFIX = {suffix: name for name, format_ in FORMATS.items() for suffix in format_.suffixes}


def known_suffixes() -> str:
    """What a file may be called, in words."""
    compressible = [suffix for suffix, name in _BY_SUFFIX.items() if FORMATS[name].compressible]
    return f"{', '.join(_BY_SUFFIX)}; {', '.join(compressible)} also with {', '.join(COMPRESSIONS)} behind"


def compression(path: str) -> str | None:
    """The suffix that tells how a file is compressed, None where it is not."""
    last = _suffixes(path)[-1:]
    return last[0] if last and last[0] in COMPRESSIONS else None


def format_name(path: str, options: Mapping[str, str]) -> str | None:
    """The name of the format of a file, told from its suffixes and the source's options; None if there is none."""
    suffixes = _suffixes(path)
    compressed = compression(path) is not None
    if compressed:
        suffixes.pop()
    name = _BY_SUFFIX.get(suffixes[-1]) if suffixes else None
    if name is None or (compressed and not FORMATS[name].compressible):
        return None
    for option, value in options.items():
        name = OPTIONS[option][value].get(name, name)
    return name


def check_options(options: Mapping[str, str]) -> None:
    """Raises SourceError on an option, or a value of one, that nobody knows."""
    for option, value in options.items():
        if option not in OPTIONS:
            raise SourceError(unknown_name("option of a source", option, OPTIONS))
        if value not in OPTIONS[option]:
            raise SourceError(unknown_name(f"`{option}` of a source", value, OPTIONS[option]))


def reader(name: str) -> Callable[..., Any]:
    """The `read` function of a format."""
    return _module(name).read  # type: ignore[no-any-return]


def unit_bytes(name: str) -> Callable[[str], list[int]]:
    """The `unit_bytes` function of a format that is cut by UNITS."""
    return _module(name).unit_bytes  # type: ignore[no-any-return]


def _module(name: str) -> Any:
    return import_module(f"gristmill.sources.{FORMATS[name].module}")


def _suffixes(path: str) -> list[str]:
    """The last two at most."""
    if path.startswith(("http://", "https://")):
        path = path.partition("?")[0]
    name = path.rpartition("/")[2].lower()
    return [f".{part}" for part in name.split(".")[1:][-2:]]

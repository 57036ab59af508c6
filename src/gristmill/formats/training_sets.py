"""The formats that a training set can be written in, as a table. Adding one is one module and one row here.

What enters: rows, batch by batch (row_batch.py). What leaves: files that another project's reader opens, in two
moves: `write_part` writes some rows under a name of their own, any number of parts side by side; `write_index`
writes, after all parts and once, what the format needs beside them.
What is guaranteed: memory is bounded by a batch (where a class says more, by a part); bytes are a pure function of
rows, `About` and `Options`; ids take 32 bits as soon as the vocabulary is over 65,535.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from gristmill.errors import FormatError, unknown_name
from gristmill.formats.row_batch import About, RowBatch

LEVELS: Mapping[str, range] = {"zstd": range(1, 23), "gzip": range(1, 10), "brotli": range(12)}
DEFAULT_LEVELS: Mapping[str, int] = {"zstd": 1, "gzip": 6, "brotli": 4}
DEFAULT_SHARD_BYTES = 200_000_000


@dataclass(frozen=True)
class Compression:
    """A codec, and its level where it has any."""

    codec: str = "none"
    level: int | None = None

    def __post_init__(self) -> None:
        levels = LEVELS.get(self.codec)
        if self.level is not None and (levels is None or self.level not in levels):
            allowed = f"a level from {levels[0]} to {levels[-1]}" if levels else "no level"
            raise ValueError(f"expected {allowed} for {self.codec}, found {self.level}")

    def __str__(self) -> str:
        return self.codec if self.level is None else f"{self.codec}:{self.level}"

    @staticmethod
    def parse(text: str) -> Compression:
        """`zstd:3`, `gzip`, `none`. A codec without its level gets the fast one of DEFAULT_LEVELS."""
        codec, colon, level = text.partition(":")
        if colon and not level.isdecimal():
            raise ValueError(f"expected codec:level such as zstd:3, found {text!r}")
        return Compression(codec, int(level) if colon else DEFAULT_LEVELS.get(codec))


@dataclass(frozen=True)
class Options:
    """What a user may choose about the bytes."""

    compression: Compression = field(default_factory=Compression)
    shard_bytes: int = DEFAULT_SHARD_BYTES  # of ids in one file, before compression; a longer row has one of its own

    def __post_init__(self) -> None:
        if self.shard_bytes < 1024:
            raise ValueError(f"expected a shard size of 1 kB at least, found {self.shard_bytes} bytes")


@dataclass(frozen=True)
class Part:
    """What writing a part left: files, relative to the folder, and what the index has to know of them."""

    files: tuple[str, ...]
    rows: int
    tokens: int  # real ones
    ids: int  # padding included
    details: Mapping[str, Any]

    def plain(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)


class TrainingSetWriter(Protocol):
    """Writes and reads one format. Without state."""

    def write_part(
        self, folder: Path, stem: str, about: About, options: Options, batches: Iterable[RowBatch]
    ) -> tuple[list[str], Mapping[str, Any]]:
        """Writes files whose names begin with or contain `stem`; returns them, and details for the index."""

    def write_index(self, folder: Path, about: About, options: Options, parts: Sequence[Part]) -> list[str]:
        """Writes what lies beside the parts; returns those files."""

    def count(self, folder: Path, part: Part) -> tuple[int, int]:
        """Rows and ids (padding included) that the files of a part hold, by what the files themselves say."""

    def read(self, folder: Path, files: Sequence[str]) -> Iterator[Any]:
        """Every row in order: an array of its ids, or its text where the format holds text."""


@dataclass(frozen=True)
class Format:
    """One row of the table."""

    target: str
    what: str
    codecs: tuple[str, ...] = ("none",)
    holds_documents: bool = True  # not only packed rows
    one_part: bool = False  # all rows in one file, written by one task
    shards_itself: bool = False  # cuts its parts into smaller files of `shard_bytes`

    def writer(self) -> TrainingSetWriter:
        """The writer and reader of this format."""
        module_name, _, class_name = self.target.partition(":")
        writer: TrainingSetWriter = getattr(import_module(module_name), class_name)()
        return writer


_HERE = "gristmill.formats."

FORMATS: Mapping[str, Format] = {
    "gristmill": Format(_HERE + "packed_set:PackedSet", "memory-mapped rows", holds_documents=False),
    "parquet": Format(
        _HERE + "parquet_rows:ParquetRows", "Parquet", ("none", "zstd", "snappy", "lz4", "gzip", "brotli")
    ),
    "huggingface": Format(_HERE + "huggingface_rows:HuggingFaceRows", "a folder for datasets.load_from_disk"),
    "megatron": Format(_HERE + "megatron_rows:MegatronRows", "Megatron's .bin and .idx", one_part=True),
    "datatrove": Format(_HERE + "datatrove_tokens:DatatroveTokens", "datatrove's and nanotron's .ds and .ds.index"),
    "mds": Format(_HERE + "mds_rows:MdsRows", "MosaicML's MDS shards", ("none", "zstd"), shards_itself=True),
    "jsonl": Format(_HERE + "text_lines:TextLines", "decoded texts, a JSON object a line", ("none", "zstd", "gzip")),
}


def format_of(name: str) -> Format:
    """The format of that name. Raises FormatError that lists the known ones."""
    if name not in FORMATS:
        raise FormatError(unknown_name("format", name, FORMATS))
    return FORMATS[name]


def check(name: str, about: About, options: Options) -> Format:
    """The format, if it can hold such rows with such options. Raises FormatError where not."""
    found = format_of(name)
    codec = options.compression.codec
    if codec not in found.codecs:
        raise FormatError(f"expected one of {', '.join(found.codecs)} as compression of {name}, found {codec}")
    if about.sequence_length is None and not found.holds_documents:
        able = ", ".join(other for other, row in FORMATS.items() if row.holds_documents)
        raise FormatError(
            f"expected packed rows for {name}, found documents of any length\n"
            f"  Give a sequence length, or choose one of: {able}."
        )
    return found


def write_part(name: str, folder: Path, stem: str, about: About, options: Options, batches: Iterable[RowBatch]) -> Part:
    """Write one part, and count what the files then hold. Raises FormatError where that is not what went in."""
    rows = tokens = ids = 0

    def counted() -> Iterator[RowBatch]:
        nonlocal rows, tokens, ids
        for batch in batches:
            rows += batch.rows
            tokens += int(batch.lengths.sum())
            ids += len(batch.ids)
            yield batch

    writer = format_of(name).writer()
    files, details = writer.write_part(folder, stem, about, options, counted())
    part = Part(tuple(files), rows, tokens, ids, details)
    found = writer.count(folder, part)
    if found != (rows, ids):
        raise FormatError(
            f"{name}: expected {rows:,} rows of {ids:,} ids in what was written, found {found[0]:,} and {found[1]:,}: "
            f"{folder / files[0]}\n  The disk may be full or failing; run the same command again."
        )
    return part

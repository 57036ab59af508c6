"""Packed rows: the training set itself, a folder of row files and the manifest that lists them.

    pack/00000.arrow, 00001.arrow, ...   the rows (row_file.py), one file a pack task, any number of rows each
    pack/manifest.json                   what all files share; each file's rows, tokens, bytes and checksum

What enters: row files, and the entries that writing them returned.
What leaves: all rows as one sequence. A file is memory-mapped when its first row is asked for and keeps no
file descriptor, so a pack may have more files than a process may open. Row numbers are 64 bits wide.
What is guaranteed: the manifest is a pure function of the content, which its `fingerprint` names; a file that
is missing, cut short or of another pack is a FormatError before its first row; `verify` finds every changed byte.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gristmill.errors import FormatError
from gristmill.formats import files
from gristmill.formats.row_file import (
    I64,
    KIND,
    U32,
    U64,
    VERSION,
    FileEntry,
    Ids,
    Layout,
    RowFile,
    Segments,
    not_packed_rows,
    write,
)

__all__ = ["FileEntry", "Found", "Layout", "Manifest", "PackedRows", "Segments", "Taken", "write", "write_manifest"]

MANIFEST = "manifest.json"
TABLE_COLUMNS, OFFSETS = 5, 2  # of kernels/expand.py, which would load numba here
Fetch = Callable[[Path, int, str], None]  # lays a file of so many bytes and this checksum at its path; picklable
_NO_U32, _NO_I64 = np.zeros(0, np.uint32), np.zeros(0, np.int64)


@dataclass(frozen=True)
class Manifest:
    """What a pack holds: its layout and its files, in order."""

    layout: Layout
    files: tuple[FileEntry, ...]

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return sum(entry.rows for entry in self.files)

    @property
    def tokens(self) -> int:
        """Real tokens in all files, padding not counted."""
        return sum(entry.tokens for entry in self.files)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON of everything else in the manifest."""
        canonical = json.dumps(self.content(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def content(self) -> dict[str, Any]:
        """The manifest as plain data, without its fingerprint."""
        return {
            "kind": KIND,
            "version": VERSION,
            **asdict(self.layout),
            "dtype": self.layout.dtype.name,
            "rows": self.rows,
            "tokens": self.tokens,
            "files": [asdict(entry) for entry in self.files],
        }

    @staticmethod
    def read(folder: str | Path) -> Manifest:
        """The manifest in `folder`. Raises FormatError where it is missing, damaged or of another version."""
        path = Path(folder) / MANIFEST
        try:
            found = files.read_json(path)
        except (FileNotFoundError, NotADirectoryError):
            raise not_packed_rows("no manifest", path) from None
        if not isinstance(found, dict) or found.get("kind") != KIND:
            raise not_packed_rows("a file that is not ours", path)
        if found.get("version") != VERSION:
            raise not_packed_rows(f"version {found.get('version')}", path)
        try:
            layout = Layout(**{name: found[name] for name in Layout.__dataclass_fields__})
            layout = replace(layout, sources=tuple(layout.sources))
            manifest = Manifest(layout, tuple(FileEntry(**entry) for entry in found["files"]))
        except (KeyError, TypeError) as error:
            raise not_packed_rows(f"other fields ({error})", path) from error
        if manifest.fingerprint != found.get("fingerprint"):
            raise not_packed_rows("a manifest that was changed by hand (its fingerprint does not fit)", path)
        return manifest


def write_manifest(folder: str | Path, layout: Layout, entries: Sequence[FileEntry]) -> Manifest:
    """Write the manifest of the row files in `folder`, in the order of `entries`; the last file of a pack."""
    manifest = Manifest(layout, tuple(entries))
    files.write_json(Path(folder) / MANIFEST, {**manifest.content(), "fingerprint": manifest.fingerprint})
    return manifest


class Found(NamedTuple):
    """Some rows, where they lie in memory: what kernels/expand.py reads them from. Valid as long as `held` is."""

    table: U64  # a line a file
    file_of: I64  # the line of each row
    local: I64  # its number in that file
    parts: int  # document parts of all these rows, the padding of a row counted as one
    held: object


class Taken(NamedTuple):
    """Some rows, gathered: what a batch is made of. A twelfth of a batch's bytes."""

    ids: Ids  # rows x sequence_length
    lengths: U32  # real tokens of each row
    offsets: I64  # rows + 1, into starts
    starts: U32  # where in its row each document part begins

    def find(self) -> Found:
        """Where the rows lie, as `PackedRows.find` says it."""
        count = len(self.lengths)
        padded = int(np.count_nonzero(self.lengths < self.ids.shape[1]))
        table = np.array(_line(self.ids, self.lengths, self.offsets, self.starts), np.uint64)
        return Found(table, np.zeros(count, np.int64), np.arange(count), len(self.starts) + padded, self)


_OF_THIS_PROCESS = ("_mapping", "_open", "_table")


class PackedRows:
    """All rows of a pack as one sequence. Safe to pickle, to fork and to read from many threads."""

    def __init__(self, folder: str | Path, manifest: Manifest, fetch: Fetch | None = None) -> None:
        self.folder = Path(folder)
        self._fetch = fetch
        self.manifest = manifest
        counts = np.array([entry.rows for entry in manifest.files], np.int64)
        self._ends = np.cumsum(counts)
        self._begins = self._ends - counts
        self._close()

    @staticmethod
    def open(folder: str | Path, fetch: Fetch | None = None) -> PackedRows:
        """Reads the manifest only; the row files are opened when their rows are asked for, `fetch` called first."""
        return PackedRows(folder, Manifest.read(folder), fetch)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def ids(self, row: int) -> Ids:
        """The token ids of one row, padding included: a read-only view of the file."""
        file, local = self._locate(row)
        ids: Ids = file.ids[local]
        return ids

    def length(self, row: int) -> int:
        """How many tokens of one row are real."""
        file, local = self._locate(row)
        return int(file.lengths[local])

    def segments(self, row: int) -> Segments:
        """The document parts of one row: `offsets` is [0, parts]."""
        file, local = self._locate(row)
        return file.segments.of_row(local)

    def find(self, rows: I64) -> Found:
        """Where the rows of these numbers lie; files that were not open yet are mapped."""
        from gristmill.kernels.expand import locate

        file_of, local = np.empty((2, len(rows)), np.int64)
        row_tokens = self.manifest.layout.sequence_length
        while True:  # until every row's file is mapped
            table = self._table
            parts, number = locate(rows, self._ends, table, _NO_U32, row_tokens, _NO_I64, file_of, local)
            if parts >= 0:
                return Found(table, file_of, local, parts, self._open)
            if number < 0:
                raise self._no_such_row(rows)
            if table[number * TABLE_COLUMNS + OFFSETS]:
                raise damaged_row(int(rows[-1 - parts]), self._path(number))
            self._file(number)

    def take(self, rows: I64) -> Taken:
        """The rows of these numbers (at least one), in this order, copied out of their files."""
        which = self._file_numbers(rows)
        within = rows - self._begins[which]
        places = [(self._file(number), row) for number, row in zip(which.tolist(), within.tolist(), strict=True)]
        starts = [file.starts(row) for file, row in places]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(part) for part in starts], out=offsets[1:])
        return Taken(
            np.concatenate([file.ids[row] for file, row in places]).reshape(len(rows), -1),
            np.array([file.lengths[row] for file, row in places], np.uint32),
            offsets,
            np.concatenate(starts),
        )

    def path_of(self, row: int) -> Path:
        """The file that holds a row, for messages."""
        return self._path(int(self._file_numbers(np.array([row], np.int64))[0]))

    def verify(self) -> None:
        """Read every byte and compare checksums. Raises one FormatError that names every bad file."""
        bad = [
            f"\n    {self._path(number)}"
            for number, entry in enumerate(self.manifest.files)
            if not self._path(number).is_file() or files.checksum(self._path(number)) != entry.checksum
        ]
        if bad:
            raise not_packed_rows(f"{len(bad)} of {len(self._ends)} files missing or changed", "".join(bad))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _OF_THIS_PROCESS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._close()  # mappings stayed behind: this process makes its own

    def _close(self) -> None:
        self._mapping = threading.Lock()
        self._open: dict[int, RowFile] = {}
        # Kernels read it without the GIL, so a line is never written in place: a new file makes a new table.
        self._table = np.zeros(len(self.manifest.files) * TABLE_COLUMNS, np.uint64)

    def _no_such_row(self, rows: I64) -> IndexError:
        found = f"{rows.min()} to {rows.max()}"
        return IndexError(f"expected row numbers from 0 to {len(self) - 1}, found {found}: {self.folder}")

    def _file_numbers(self, rows: I64) -> I64:
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self)):
            raise self._no_such_row(rows)
        return np.searchsorted(self._ends, rows, side="right")

    def _locate(self, row: int) -> tuple[RowFile, int]:
        number = int(self._file_numbers(np.array([row], np.int64))[0])
        return self._file(number), row - int(self._begins[number])

    def _path(self, number: int) -> Path:
        return self.folder / self.manifest.files[number].name

    def _file(self, number: int) -> RowFile:
        if (file := self._open.get(number)) is not None:
            return file
        with self._mapping:
            if (file := self._open.get(number)) is None:
                file = self._map(number)
                table = self._table.copy()
                line = slice(number * TABLE_COLUMNS, (number + 1) * TABLE_COLUMNS)
                table[line] = _line(file.ids, file.lengths, file.segments.offsets, file.segments.start)
                self._table = table  # before `_open`: who finds the file there finds its line, too
                self._open[number] = file
        return file

    def _map(self, number: int) -> RowFile:
        path, entry = self._path(number), self.manifest.files[number]
        if self._fetch is not None:
            self._fetch(path, entry.bytes, entry.checksum)
        if path.is_file() and path.stat().st_size != entry.bytes:
            raise not_packed_rows(f"{path.stat().st_size} bytes where the manifest has {entry.bytes}", path)
        file = RowFile.open(path, self.manifest.layout)
        if len(file) != entry.rows:
            raise not_packed_rows(f"{len(file)} rows where the manifest has {entry.rows}", path)
        return file


def _line(ids: Ids, lengths: U32, offsets: I64, starts: U32) -> list[int]:
    return [*(column.ctypes.data for column in (ids, lengths, offsets, starts)), len(starts)]


def damaged_row(row: int, path: Path) -> FormatError:
    """The error for a row whose document parts cannot be."""
    return not_packed_rows(f"row {row} with document parts that do not fit it", path)

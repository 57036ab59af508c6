"""Plain columns of numbers in an Arrow IPC file that is mapped, not read: what global steps hand to each other.

What enters: record batches of one schema without nulls. What leaves: the same batches as views of the file, so that
opening one costs the same however big it is. The kind and version stand in the file; the bytes are a pure function
of the batches.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.errors import FormatError
from gristmill.formats.files import atomic

_KIND, _VERSION = "gristmill.kind", "gristmill.version"


def write_columns(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    schema: Any,
    batches: Iterable[Any],
    metadata: Mapping[str, str] | None = None,
) -> int:
    """Write the batches as they come, one in memory at a time; returns the number of rows."""
    rows = 0
    told = {_KIND: kind, _VERSION: str(version), **(metadata or {})}
    with atomic(path) as temporary, pa.ipc.new_file(str(temporary), schema.with_metadata(told)) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += len(batch)
    return rows


class ColumnFile:
    """One such file, open for reading."""

    def __init__(self, path: str | os.PathLike[str], kind: str, version: int) -> None:
        """Raises FormatError where the file is none of ours, of another kind or version, or cut short."""
        self.path = Path(path)
        try:
            self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
            metadata = self._reader.schema.metadata or {}
            self.metadata = {key.decode(): text.decode() for key, text in metadata.items()}
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _unexpected(kind, version, f"something else ({error})", path) from error
        found = (self.metadata.get(_KIND), self.metadata.get(_VERSION))
        if found != (kind, str(version)):
            raise _unexpected(kind, version, f"{found[0] or 'no kind'} of version {found[1]}", path)

    def __len__(self) -> int:
        return int(self._reader.num_record_batches)

    def batch(self, number: int) -> Any:
        """A record batch over the mapped bytes, whose buffers are as long as it says."""
        try:
            batch = self._reader.get_batch(number)
            batch.validate()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            kind, version = self.metadata[_KIND], int(self.metadata[_VERSION])
            raise _unexpected(kind, version, f"a damaged batch {number} ({error})", self.path) from error
        return batch

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._reader.schema.names)


def _unexpected(kind: str, version: int, found: str, path: str | os.PathLike[str]) -> FormatError:
    return FormatError(
        f"expected {kind} of version {version}, found {found}: {path}\n"
        "  Run `gristmill run` again to rebuild this step."
    )

"""The draw plan on disk: which document comes next, for the whole stream, cut into windows.

An Arrow IPC file. One record batch is one window; a row is one draw: the source's number, the document's ordinal
within that source (over its token shards in order), its tokens. Where a window starts in the stream stands in its
batch's metadata, so opening any window costs the same however long the plan is. The bytes are a pure function of
the draws.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.errors import FormatError
from gristmill.formats.files import atomic

KIND = "draw plan"
VERSION = 1
_COLUMNS = [
    pa.field("source", pa.uint16(), nullable=False),
    pa.field("document", pa.uint64(), nullable=False),
    pa.field("tokens", pa.uint32(), nullable=False),
]


class Draws(NamedTuple):
    """Consecutive draws, as columns."""

    source: npt.NDArray[np.uint16]
    document: npt.NDArray[np.uint64]
    tokens: npt.NDArray[np.uint32]

    def head(self, count: int) -> Draws:
        """The first draws."""
        return Draws(self.source[:count], self.document[:count], self.tokens[:count])

    @staticmethod
    def join(parts: Sequence[Draws]) -> Draws:
        """The draws of all parts, one after the other."""
        return Draws(
            np.concatenate([part.source for part in parts]),
            np.concatenate([part.document for part in parts]),
            np.concatenate([part.tokens for part in parts]),
        )


class Window(NamedTuple):
    """Where a window lies in the stream."""

    first_draw: int
    draws: int
    first_token: int
    tokens: int


def write_draw_plan(path: str | os.PathLike[str], sources: Sequence[str], windows: Iterable[Draws]) -> int:
    """Write the windows as they come, one in memory at a time; returns the number of draws."""
    metadata = {
        "gristmill.kind": KIND,
        "gristmill.version": str(VERSION),
        "gristmill.sources": json.dumps(list(sources), ensure_ascii=False),
    }
    schema = pa.schema(_COLUMNS, metadata)
    first_draw = first_token = 0
    with atomic(path) as temporary, pa.ipc.new_file(str(temporary), schema) as writer:
        for draws in windows:
            columns: list[npt.NDArray[Any]] = [draws.source, draws.document, draws.tokens]
            arrays = [_arrow(field.type, column) for field, column in zip(schema, columns, strict=True)]
            batch = pa.record_batch(arrays, schema)
            window = Window(first_draw, len(draws.source), first_token, int(draws.tokens.sum(dtype=np.int64)))
            writer.write_batch(batch, {name: str(value) for name, value in window._asdict().items()})
            first_draw += window.draws
            first_token += window.tokens
    return first_draw


class DrawPlan:
    """A draw plan opened for reading; `len()` is its number of windows.

    Columns are views of the mapped file; they outlive the plan when it is used as a context and closed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises FormatError where the file is none of ours, of another version, or cut short."""
        self.path = Path(path)
        try:
            self._file = pa.memory_map(str(path))
            self._reader = pa.ipc.open_file(self._file)
            told = (self._reader.schema.metadata or {}).items()
            metadata = {key.decode(): text.decode() for key, text in told}
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _unexpected(f"something else ({error})", path) from error
        if metadata.get("gristmill.kind") != KIND:
            raise _unexpected("an Arrow file that is not ours", path)
        if metadata.get("gristmill.version") != str(VERSION):
            raise _unexpected(f"version {metadata.get('gristmill.version')}", path)
        if self._reader.schema.names != [field.name for field in _COLUMNS] or self._reader.schema.types != [
            field.type for field in _COLUMNS
        ]:
            raise _unexpected("other columns", path)
        try:
            self.sources: tuple[str, ...] = tuple(json.loads(metadata["gristmill.sources"]))
        except (KeyError, ValueError, TypeError) as error:
            raise _unexpected(f"one that does not name its sources ({error})", path) from error

    def __enter__(self) -> DrawPlan:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return int(self._reader.num_record_batches)

    @property
    def windows(self) -> tuple[Window, ...]:
        """All windows. Reads every batch's header: for one window, ask `window`."""
        return tuple(self.window(number) for number in range(len(self)))

    @property
    def draws(self) -> int:
        """Draws in the whole stream."""
        last = self._last()
        return last.first_draw + last.draws

    @property
    def tokens(self) -> int:
        """Tokens in the whole stream."""
        last = self._last()
        return last.first_token + last.tokens

    def window(self, number: int) -> Window:
        """Where that window lies in the stream."""
        metadata = self._read(number)[1]
        try:
            return Window(*(int(metadata[name.encode()]) for name in Window._fields))
        except (KeyError, ValueError, TypeError) as error:
            raise _unexpected(f"a window {number} that does not say where it lies ({error})", self.path) from error

    def window_draws(self, number: int) -> Draws:
        """The draws of that window."""
        source, document, tokens = self._read(number)[0].columns
        return Draws(_view(source, np.uint16), _view(document, np.uint64), _view(tokens, np.uint32))

    def _read(self, number: int) -> Any:
        try:
            found = self._reader.get_batch_with_custom_metadata(number)
            found[0].validate()
            return found
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _unexpected(f"a damaged window {number} ({error})", self.path) from error

    def _last(self) -> Window:
        return self.window(len(self) - 1) if len(self) else Window(0, 0, 0, 0)


# Buffers, not `pa.array` and `to_numpy`: those import pandas where there is one.


def _arrow(kind: Any, column: npt.NDArray[Any]) -> Any:
    return pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(np.ascontiguousarray(column))])


def _view(column: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.frombuffer(column.buffers()[1], dtype, len(column)) if len(column) else np.zeros(0, dtype)


def _unexpected(found: str, path: str | os.PathLike[str]) -> FormatError:
    return FormatError(
        f"expected a {KIND} of version {VERSION}, found {found}: {os.fspath(path)}\n"
        "  Run `gristmill run` again to rebuild this step."
    )

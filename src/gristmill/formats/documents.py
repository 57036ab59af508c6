"""Documents as Parquet: what sift keeps, what it drops, and what it measured of every row it read.

Beside each other in `sift/SOURCE/`, one set a chunk:
    00000.parquet            kept documents (document.DOCUMENTS)
    00000.signals.parquet    one row a row read: row, file, position, verdict (null = kept), signals, sketches
    00000.dropped.parquet    on request: the dropped documents: row, id, text, verdict
A row group is one batch of the reader, so the bytes do not depend on who wrote them or with how many workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.errors import FormatError
from gristmill.formats.files import atomic

VERSION = b"1"
_KIND = b"gristmill.kind"
_VERSION = b"gristmill.version"


class DocumentWriter:
    """Writes batches of one schema to a Parquet file that is whole or absent. Use as a context manager."""

    def __init__(self, path: Path, schema: Any, kind: str) -> None:
        self._path = path
        self._schema = schema.with_metadata({_KIND: kind.encode(), _VERSION: VERSION})

    def __enter__(self) -> DocumentWriter:
        with ExitStack() as stack:
            self._writer = stack.enter_context(
                pq.ParquetWriter(
                    stack.enter_context(atomic(self._path)),
                    self._schema,
                    compression="zstd",
                    compression_level=1,
                    use_dictionary=[field.name for field in self._schema if pa.types.is_dictionary(field.type)],
                    write_statistics=["row"],
                    data_page_size=1 << 20,
                )
            )
            self._close = stack.pop_all()  # first the writer, which writes the footer, then the name
        return self

    def write(self, batch: Any) -> None:
        """One row group, its columns cast to the schema's types."""
        if len(batch):
            self._writer.write_batch(batch.cast(self._schema), row_group_size=len(batch))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close.__exit__(kind, error, trace)


def read_batches(path: Path, columns: Sequence[str], batch_rows: int = 1 << 16) -> Iterator[Any]:
    """Record batches of these columns, in order: one row group at a time in memory."""
    with open_parquet(path) as file:
        batches = file.iter_batches(batch_size=batch_rows, columns=list(columns), use_threads=False)
        while (batch := _next(batches, path)) is not None:
            yield batch


def open_parquet(path: Path) -> Any:
    """A ParquetFile of ours. Raises FormatError where it is none."""
    try:
        file = pq.ParquetFile(path, memory_map=True, pre_buffer=False)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(path, error) from error
    found = (file.schema_arrow.metadata or {}).get(_VERSION)
    if found != VERSION:
        file.close()
        version = found.decode() if found else "no version"
        raise FormatError(
            f"expected documents of version {VERSION.decode()}, found {version}: {path}\n"
            "  Run `gristmill run` again to rebuild this step."
        )
    return file


def _next(batches: Iterator[Any], path: Path) -> Any:
    """The next batch, checked as far as looking at it must not read beyond it; None behind the last."""
    try:
        batch = next(batches, None)
        if batch is not None:
            batch.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(path, error) from error
    return batch


def _damaged(path: Path, error: Exception) -> FormatError:
    return FormatError(
        f"expected a Parquet file of Gristmill's, found a damaged or missing one: {path} ({error})\n"
        "  Run `gristmill run` again to rebuild this step."
    )

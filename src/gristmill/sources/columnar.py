"""Rows from Arrow columns, which is what Parquet, Arrow and Hugging Face files hold.

What enters: a table or record batch with (at least) the wanted columns. What leaves: its rows, as many at a time as
`batch_bytes` of text hold. Text may be any kind of string or binary, dictionary-encoded or not; of any other type it
is unreadable. Ids of any type become texts, metadata of any type JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import buffers
from gristmill.errors import SourceError
from gristmill.sources.opening import explained, is_remote, open_bytes
from gristmill.sources.piece import Columns
from gristmill.sources.rows import MOST_ROWS, NULL_TEXT, TEXT_TYPE, json_objects, json_strings, readable, rows


@contextmanager
def arrow_input(path: str, kind: str) -> Iterator[Any]:
    """The file as Arrow reads it, mapped into memory if it is local. Whatever Arrow finds wrong inside the block is
    a SourceError that names the file."""
    with explained(path):
        source = pa.PythonFile(open_bytes(path), mode="r") if is_remote(path) else pa.memory_map(path)
    try:
        with source:
            yield source
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise SourceError(
            f"expected a valid {kind} file, found damage ({error}): {path}\n"
            "  Fetch or write the file again, or leave it out."
        ) from error


def table_rows(table: Any, first_row: int, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows of a table whose first one has the position `first_row`."""
    text = _flat(table.column(columns.text))
    bounds = _bounds(text, batch_bytes)
    for start, stop in pairwise(bounds):
        part = table.slice(start, stop - start)
        texts, reasons = _texts(text.slice(start, stop - start))
        id_ = _ids(_flat(part.column(columns.id))) if columns.id is not None else None
        metadata = [_json(_flat(part.column(name))) for name in columns.metadata]
        positions = np.arange(first_row + start, first_row + stop)
        yield rows(positions, texts, reasons, id_, json_objects(columns.metadata, metadata))


def _flat(column: Any) -> Any:
    """The column as one plain array: no chunks, no extension type, no view."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        column = column.cast(pa.large_binary() if pa.types.is_binary_view(column.type) else pa.large_string())
    return column


def _is_text(kind: Any) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in tests)


def _is_plain(kind: Any) -> bool:
    """Whether Arrow writes it as JSON does."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _valid(column: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False))


def _bounds(text: Any, batch_bytes: int) -> list[int]:
    """Where to cut, so that no part has over MOST_ROWS rows, or over `batch_bytes` of text if it can be helped."""
    if pa.types.is_dictionary(text.type) and _is_text(text.type.value_type):
        lengths = pc.binary_length(text.dictionary).take(text.indices)
    elif _is_text(text.type):
        lengths = pc.binary_length(text)
    else:
        lengths = pa.nulls(len(text), pa.int64())
    ends = np.cumsum(lengths.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
    bounds = [0]
    while bounds[-1] < len(text):
        start = bounds[-1]
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + batch_bytes, side="right"))
        bounds.append(min(max(stop, start + 1), start + MOST_ROWS, len(text)))
    return bounds


def _texts(text: Any) -> tuple[Any, npt.NDArray[np.uint8]]:
    """The column as large_binary, and what is wrong with the rows where it is null."""
    if pa.types.is_dictionary(text.type):
        text = text.dictionary_decode()
    if _is_text(text.type):
        texts = text.cast(pa.large_binary())
        texts.validate(full=True)  # a damaged file may hold offsets that point anywhere
        return texts, np.where(_valid(text), 0, NULL_TEXT).astype(np.uint8)
    reasons = np.where(_valid(text), TEXT_TYPE, NULL_TEXT).astype(np.uint8)
    return pa.nulls(len(text), pa.large_binary()), reasons


def _ids(column: Any) -> Any:
    """The column as large_string: strings as they are, numbers in decimal, anything else as JSON."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if _is_text(column.type):
        return readable(*buffers(column.cast(pa.large_binary())), _valid(column))
    if _is_plain(column.type):
        return column.cast(pa.large_string())
    return pc.if_else(column.is_valid(), _json(column), pa.scalar(None, pa.large_string()))


def _json(column: Any) -> Any:
    """The column as large_string, each value written as JSON, nulls too."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if _is_text(column.type):
        return json_strings(*buffers(column.cast(pa.large_binary())), _valid(column)).fill_null("null")
    if _is_plain(column.type):
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_finite(column), column, pa.scalar(None, column.type))
        return column.cast(pa.large_string()).fill_null("null")
    values = [json.dumps(value, ensure_ascii=False, default=str) for value in column.to_pylist()]
    return pa.array(values, pa.large_string())

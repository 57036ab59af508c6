"""Batches as readers make them: ROWS of document.py, but for the file, which only the caller knows.

What enters: columns as kernels and Arrow leave them. What leaves: batches in which a row is either good or says why
it is not, and in which ids and metadata are valid UTF-8 whatever the file held.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import ROWS, Bytes, Offsets, binaries
from gristmill.errors import SourceError
from gristmill.kernels.json_text import LONGEST_ESCAPE_BYTES, quote
from gristmill.kernels.vector import PADDING_BYTES
from gristmill.sources.piece import Columns

# Why a row may be no document: `unreadable.` where something is wrong with it, `skipped.` where it is something else.
# The index stands for the reason until a batch is made; 0 is a good row.
SKIPPED_TOO_LONG = "skipped.too_long"
REASONS = (
    None,
    "unreadable.json",
    "unreadable.not_an_object",
    "unreadable.missing_text",
    "unreadable.null_text",
    "unreadable.text_type",
    "unreadable.csv",
    "unreadable.truncated",
    "unreadable.corrupt",
    "unreadable.warc",
    "unreadable.http",
    "unreadable.charset",
    "skipped.record_type",
    "skipped.content_type",
    "skipped.content_encoding",
    SKIPPED_TOO_LONG,
)
GOOD, JSON, NOT_AN_OBJECT, MISSING_TEXT, NULL_TEXT, TEXT_TYPE, CSV, TRUNCATED, CORRUPT = range(9)
WARC, HTTP, CHARSET, RECORD_TYPE, CONTENT_TYPE, CONTENT_ENCODING, TOO_LONG = range(9, len(REASONS))
Reasons = npt.NDArray[np.uint8]
MOST_ROWS = 1 << 16  # in a batch

PIECE_ROWS = ROWS.remove(ROWS.get_field_index("file"))


def rows(
    positions: Offsets, text: Any, reasons: Reasons | None = None, id_: Any = None, metadata: Any = None
) -> pa.RecordBatch:
    """A batch. `text` is a large_binary array, null wherever there is a reason."""
    count = len(positions)
    if reasons is None or not reasons.any():
        unreadable = pa.nulls(count, pa.string())
    else:
        unreadable = pa.array(REASONS, pa.string()).take(pa.array(reasons))
    columns = [
        pa.array(positions, pa.int64()),
        pa.nulls(count, pa.large_string()) if id_ is None else id_,
        text,
        pa.nulls(count, pa.large_string()) if metadata is None else metadata,
        unreadable,
    ]
    return pa.RecordBatch.from_arrays(columns, schema=PIECE_ROWS)


def bad_row(position: int, reason: str) -> pa.RecordBatch:
    """The one row that stands for whatever could not be read from `position` on."""
    code = np.array([REASONS.index(reason)], np.uint8)
    return rows(np.array([position]), pa.nulls(1, pa.large_binary()), code)


def readable(offsets: Offsets, data: Bytes, valid: npt.NDArray[np.bool_] | None = None) -> Any:
    """A large_string array over bytes that may be no valid UTF-8; what is not becomes U+FFFD."""
    raw = binaries(offsets, data, valid)
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = [None if value is None else value.decode("utf-8", "replace") for value in raw.to_pylist()]
        return pa.array(texts, pa.large_string())


def json_strings(offsets: Offsets, data: Bytes, valid: npt.NDArray[np.bool_]) -> Any:
    """A large_string array of texts written as JSON strings."""
    padded = np.concatenate([data, np.empty(PADDING_BYTES, np.uint8)])
    most_bytes = LONGEST_ESCAPE_BYTES * int(offsets[-1] - offsets[0]) + 2 * len(offsets) + PADDING_BYTES
    quoted_offsets, out = np.empty(len(offsets), np.int64), np.empty(most_bytes, np.uint8)
    quote(padded, offsets[:-1], offsets[1:], quoted_offsets, out)
    return readable(quoted_offsets, out, valid)


def json_objects(names: Sequence[str], values: Sequence[Any]) -> Any:
    """A large_string array of JSON objects, made of columns of JSON values. A null value leaves its key out; an
    object without keys is null."""
    if not names:
        return None
    nothing = _text("")
    members = [
        pc.binary_join_element_wise(_text(f", {json.dumps(name)}: "), value, nothing).fill_null(nothing)
        for name, value in zip(names, values, strict=True)
    ]
    joined = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*members, nothing), len(", "))
    objects = pc.binary_join_element_wise(_text("{"), joined, _text("}"), nothing)
    return pc.if_else(pc.equal(joined, nothing), _text(None), objects)


def _text(value: str | None) -> Any:
    return pa.scalar(value, pa.large_string())


def require_columns(path: str, columns: Columns, found: Sequence[str]) -> None:
    """Raises SourceError where a file lacks a column that the recipe names, or has two of that name."""
    for wanted in columns.wanted:
        count = found.count(wanted)
        if count > 1:
            raise SourceError(f"expected one column `{wanted}`, found it twice: {path}\n  Rename one of them.")
        if count == 0:
            names = ", ".join(f"`{name}`" for name in found)
            raise SourceError(
                f"expected a column `{wanted}`, found {names or 'none'}: {path}\n"
                "  Name the right column in the recipe (`text_column` holds the text), or leave this file out."
            )

"""THE schema of a document batch, and the way from Arrow to kernels and back.

Two shapes travel the route:

- ROWS: what a reader yields, one row for each row of the raw file, good or bad. `text` is still raw bytes.
- DOCUMENTS: what sift writes and every later stage reads. `text` is valid UTF-8, guaranteed.

Kernels never see Arrow: they take the two buffers of a string column, int64 offsets and uint8 bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Offsets = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

ROWS = pa.schema(
    [
        pa.field("file", pa.int32(), nullable=False),  # number of the piece in its chunk
        pa.field("position", pa.int64(), nullable=False),  # byte offset in the decompressed file, or row number
        pa.field("id", pa.large_string()),
        pa.field("text", pa.large_binary()),  # raw bytes; null where the row is unreadable
        pa.field("metadata", pa.large_string()),  # a JSON object, or null
        pa.field("unreadable", pa.string()),  # why the row is no document (sources/rows.py); null = good
    ]
)

DOCUMENTS = pa.schema(
    [
        pa.field("row", pa.int32(), nullable=False),  # number of the row in its chunk: with it, the document's key
        pa.field("id", pa.large_string()),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("source", pa.dictionary(pa.int16(), pa.string()), nullable=False),
        pa.field("metadata", pa.large_string()),
    ]
)


def buffers(strings: Any) -> tuple[Offsets, Bytes]:
    """The offsets (length + 1, absolute) and the bytes behind a large_string or large_binary array.

    Nothing is copied. Nulls read as empty strings. Raises TypeError on any other type of array.
    """
    if strings.type not in (pa.large_string(), pa.large_binary()):
        raise TypeError(f"expected large_string or large_binary, got {strings.type}")
    _, offsets_buffer, data_buffer = strings.buffers()
    if len(strings) == 0 or offsets_buffer is None:
        return np.zeros(len(strings) + 1, np.int64), np.zeros(0, np.uint8)
    offsets = np.frombuffer(offsets_buffer, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    if data_buffer is None or data_buffer.size == 0:
        return offsets, np.zeros(0, np.uint8)
    return offsets, np.frombuffer(data_buffer, np.uint8)


def strings(offsets: Offsets, data: Bytes, valid: npt.NDArray[np.bool_] | None = None) -> Any:
    """A large_string array over the two buffers, not copied. The caller guarantees valid UTF-8."""
    return _from_buffers(pa.large_string(), offsets, data, valid)


def binaries(offsets: Offsets, data: Bytes, valid: npt.NDArray[np.bool_] | None = None) -> Any:
    """A large_binary array over the two buffers, not copied."""
    return _from_buffers(pa.large_binary(), offsets, data, valid)


def _from_buffers(kind: Any, offsets: Offsets, data: Bytes, valid: npt.NDArray[np.bool_] | None) -> Any:
    nulls = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    arrays = [nulls, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(kind, len(offsets) - 1, arrays)


def large_strings(texts: Any) -> Any:
    """Any column or list of texts as one large_string array: the door for texts that come from Python."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if isinstance(texts, pa.Array):
        return texts if texts.type == pa.large_string() else texts.cast(pa.large_string())
    return pa.array(texts, type=pa.large_string())

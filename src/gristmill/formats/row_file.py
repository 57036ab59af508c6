"""One file of packed rows: an Arrow IPC file with one record batch, made to be memory-mapped.

    input_ids  fixed_size_list<uint16 | uint32>[sequence_length]
    segments   large_list<struct<start: uint32, source: uint16, document: uint64, token: uint64>>
    length     uint32, the real tokens of the row; the rest is padding

What enters: a matrix of ids, the length of each row, and the document parts that lie in it.
What leaves: the same arrays, memory-mapped, nothing copied.
What is guaranteed: the bytes are a pure function of the content; a file of another kind, version or shape is
a FormatError when it is opened. The manifest's checksum (packed_rows.py) finds changed bytes inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.errors import FormatError
from gristmill.formats import files

KIND = "packed rows"
VERSION = 1

U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
Ids: TypeAlias = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


class Segments(NamedTuple):
    """The document parts in some rows: those of row i are offsets[i]:offsets[i + 1] of the four columns."""

    offsets: I64  # rows + 1
    start: U32  # position in the row at which the part begins; 0 for the first, strictly increasing
    source: U16  # index into Layout.sources
    document: U64  # ordinal of the document within its source
    token: U64  # offset, in the document's tokens, of the first token here

    def of_row(self, row: int) -> Segments:
        """The document parts of one row: `offsets` is [0, parts]."""
        begin, end = self.offsets[row : row + 2].tolist()
        part = slice(begin, end)
        offsets = np.array([0, end - begin], np.int64)
        return Segments(offsets, self.start[part], self.source[part], self.document[part], self.token[part])


@dataclass(frozen=True)
class Layout:
    """What all rows of a pack have in common."""

    sequence_length: int
    strategy: str
    pad_id: int
    vocab_size: int
    tokenizer_fingerprint: str
    sources: tuple[str, ...]
    tokenizer_file: str = "tokenizer.json"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The width of an id on disk: 16 bits as long as the vocabulary allows it."""
        return np.dtype(np.uint16 if self.vocab_size <= 65_535 else np.uint32)

    def schema(self) -> Any:
        """The Arrow schema of a row file, its metadata included."""
        token = pa.field("item", pa.from_numpy_dtype(self.dtype), nullable=False)
        parts = [
            ("start", pa.uint32()),
            ("source", pa.uint16()),
            ("document", pa.uint64()),
            ("token", pa.uint64()),
        ]
        part = pa.struct([pa.field(name, kind, nullable=False) for name, kind in parts])
        columns = [
            pa.field("input_ids", pa.list_(token, self.sequence_length), nullable=False),
            pa.field("segments", pa.large_list(pa.field("item", part, nullable=False)), nullable=False),
            pa.field("length", pa.uint32(), nullable=False),  # real tokens; the rest of the row is padding
        ]
        metadata = {
            "gristmill.kind": KIND,
            "gristmill.version": str(VERSION),
            "gristmill.tokenizer_fingerprint": self.tokenizer_fingerprint,
            "gristmill.sequence_length": str(self.sequence_length),
            "gristmill.pad_id": str(self.pad_id),
        }
        return pa.schema(columns, metadata)


@dataclass(frozen=True)
class FileEntry:
    """One row file, as the manifest lists it."""

    name: str
    rows: int
    tokens: int  # real ones, padding not counted
    bytes: int
    checksum: str


def write(path: str | Path, layout: Layout, ids: Ids, lengths: U32, segments: Segments) -> FileEntry:
    """Write one row file, whole or not at all. The arrays go to disk as they are, without a copy."""
    assert ids.shape == (len(lengths), layout.sequence_length) and ids.dtype == layout.dtype
    assert len(segments.offsets) == len(lengths) + 1 and segments.offsets[-1] == len(segments.start)
    schema = layout.schema()
    token_kind, part_kind = schema.field(0).type.value_type, schema.field(1).type.value_type
    values: list[npt.NDArray[Any]] = [segments.start, segments.source, segments.document, segments.token]
    parts = [_array(column, field.type) for column, field in zip(values, part_kind, strict=True)]
    columns = [
        _nested(schema.field(0).type, len(ids), [None], [_array(ids.reshape(-1), token_kind)]),
        _nested(
            schema.field(1).type,
            len(ids),
            [None, pa.py_buffer(np.ascontiguousarray(segments.offsets, np.int64))],
            [_nested(part_kind, len(segments.start), [None], parts)],
        ),
        _array(lengths, pa.uint32()),
    ]
    with (
        files.atomic(path) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, schema) as writer,
    ):
        writer.write_batch(pa.record_batch(columns, schema=schema))
    tokens = int(lengths.sum(dtype=np.int64))
    return FileEntry(Path(path).name, len(ids), tokens, Path(path).stat().st_size, files.checksum(path))


def _array(values: npt.NDArray[Any], kind: Any) -> Any:
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def _nested(kind: Any, length: int, buffers: list[Any], children: list[Any]) -> Any:
    return pa.Array.from_buffers(kind, length, buffers, children=children)


@dataclass(frozen=True)
class RowFile:
    """One row file, memory-mapped: read-only views that keep the mapping, and no file descriptor, alive."""

    ids: Ids
    lengths: U32
    segments: Segments

    @staticmethod
    def open(path: str | Path, layout: Layout) -> RowFile:
        """Raises FormatError where the file is missing, damaged, or not of this layout."""
        try:
            # The buffers outlive the file object: closing it gives the descriptor back, not the mapping.
            with pa.memory_map(str(path)) as source:
                reader = pa.ipc.open_file(source)
                found = _difference(reader.schema, layout)
                if found is None and reader.num_record_batches != 1:
                    found = f"{reader.num_record_batches} record batches instead of one"
                if found is not None:
                    raise not_packed_rows(found, path)
                batch = reader.get_record_batch(0)
                batch.validate()
        except FileNotFoundError:
            raise not_packed_rows("no file", path) from None
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise not_packed_rows(f"a damaged file ({error})", path) from error
        input_ids, segments, length = batch.columns
        parts = segments.values
        return RowFile(
            _view(input_ids.values, layout.dtype).reshape(len(batch), layout.sequence_length),
            _view(length, np.uint32),
            Segments(
                np.frombuffer(segments.buffers()[1], np.int64, len(batch) + 1),
                _view(parts.field("start"), np.uint32),
                _view(parts.field("source"), np.uint16),
                _view(parts.field("document"), np.uint64),
                _view(parts.field("token"), np.uint64),
            ),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def starts(self, row: int) -> U32:
        """Where in the row each of its document parts begins."""
        return self.segments.start[self.segments.offsets[row] : self.segments.offsets[row + 1]]


def _view(array: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.frombuffer(array.buffers()[1], dtype, len(array)) if len(array) else np.zeros(0, dtype)


def _difference(schema: Any, layout: Layout) -> str | None:
    metadata = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    if metadata.get("gristmill.kind") != KIND:
        return "an Arrow file that is not ours"
    if metadata.get("gristmill.version") != str(VERSION):
        return f"version {metadata.get('gristmill.version')}"
    expected = layout.schema()
    for key, value in expected.metadata.items():
        name = key.decode()
        if metadata.get(name) != value.decode():
            label = name.removeprefix("gristmill.")
            return f"{label} {metadata.get(name)} where the manifest has {value.decode()}"
    if not schema.equals(expected):
        return f"other columns ({', '.join(f'{field.name}: {field.type}' for field in schema)})"
    return None


def not_packed_rows(found: str, path: str | Path) -> FormatError:
    """The one sentence for all that can be wrong with a pack."""
    return FormatError(
        f"expected {KIND} of version {VERSION}, found {found}: {path}\n"
        "  Run `gristmill run` again to rebuild this step."
    )

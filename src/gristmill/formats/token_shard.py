"""One token shard: the token ids of one chunk's documents, an Arrow IPC file made to be memory-mapped.

    row        int32, the document's row number in its chunk
    input_ids  large_list<uint16 | uint32>, its ids

What enters: batches of documents as row numbers, bounds and ids. What leaves: the same as three arrays,
memory-mapped, nothing copied. Bounds have 64 bits, so a shard may hold more than 2^31 tokens.
What is guaranteed: the bytes are a pure function of the content, and how it was cut into batches does not matter;
a file of another kind, version or shape, or a truncated one, is a FormatError when it is opened; changed bytes
inside are one when it is verified.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from gristmill.errors import FormatError
from gristmill.formats import files
from gristmill.formats.mapped_pages import release_pages

KIND = "token shard"
VERSION = 1

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
Ids = npt.NDArray[Any]  # uint16 or uint32
Batch = tuple[I32, I64, Ids]  # rows, offsets (from 0, one more than rows), ids

_ID_TYPES = {pa.uint16(): np.uint16, pa.uint32(): np.uint32}


def write(path: str | Path, tokenizer_fingerprint: str, batches: Iterable[Batch]) -> None:
    """Write one shard, whole or not at all. It is held in memory until it is complete, as its head has a checksum."""
    batch = record_batch(tokenizer_fingerprint, *_joined(list(batches)))
    with files.atomic(path) as temporary, pa.OSFile(str(temporary), "wb") as sink:
        write_record_batch(sink, batch)


def record_batch(tokenizer_fingerprint: str, rows: I32, offsets: I64, ids: Ids) -> Any:
    """A shard's only record batch, over the given arrays, with the metadata of the file in its schema."""
    assert rows.dtype == np.int32 and offsets.dtype == np.int64 and ids.dtype in (np.uint16, np.uint32)
    assert len(offsets) == len(rows) + 1 and offsets[0] == 0 and offsets[-1] == len(ids)
    token = pa.field("item", pa.from_numpy_dtype(ids.dtype), nullable=False)
    schema = pa.schema(
        [
            pa.field("row", pa.int32(), nullable=False),
            pa.field("input_ids", pa.large_list(token), nullable=False),
        ],
        {
            "gristmill.kind": KIND,
            "gristmill.version": str(VERSION),
            "gristmill.tokenizer": tokenizer_fingerprint,
            "gristmill.checksum": _checksum(rows, offsets, ids),
        },
    )
    values = pa.Array.from_buffers(token.type, len(ids), [None, pa.py_buffer(ids)])
    columns = [
        pa.Array.from_buffers(pa.int32(), len(rows), [None, pa.py_buffer(rows)]),
        pa.Array.from_buffers(
            schema.field("input_ids").type, len(rows), [None, pa.py_buffer(offsets)], children=[values]
        ),
    ]
    return pa.record_batch(columns, schema=schema)


def write_record_batch(sink: Any, batch: Any) -> None:
    """The bytes of a shard. Without allow_64bit Arrow refuses more than 2^31 - 1 tokens."""
    with pa.ipc.new_file(sink, batch.schema, options=pa.ipc.IpcWriteOptions(allow_64bit=True)) as writer:
        writer.write_batch(batch)


@dataclass(frozen=True)
class TokenShard:
    """One shard, memory-mapped: read-only views that keep the mapping, and no file descriptor, alive."""

    path: Path
    tokenizer_fingerprint: str
    rows: I32
    offsets: I64
    ids: Ids
    checksum: str

    @staticmethod
    def open(path: str | Path) -> TokenShard:
        """Raises FormatError where the file is missing, damaged, or not a token shard of this version."""
        try:
            with pa.memory_map(str(path)) as source:
                reader = pa.ipc.open_file(source)
                found = _difference(reader)
                if found is not None:
                    raise _not_a_shard(found, path)
                batch = reader.get_record_batch(0)
                batch.validate()
                metadata = _metadata(reader.schema)
        except FileNotFoundError:
            raise _not_a_shard("no file", path) from None
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _not_a_shard(f"a damaged file ({error})", path) from error
        rows, input_ids = batch.columns
        return TokenShard(
            Path(path),
            metadata["gristmill.tokenizer"],
            _view(rows.buffers()[1], np.int32, len(batch)),
            np.frombuffer(input_ids.buffers()[1], np.int64, len(batch) + 1),
            _view(input_ids.values.buffers()[1], _ID_TYPES[input_ids.type.value_type], len(input_ids.values)),
            metadata["gristmill.checksum"],
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def tokens(self) -> int:
        """All tokens of the shard."""
        return len(self.ids)

    @property
    def lengths(self) -> I64:
        """The tokens of each document."""
        return np.diff(self.offsets)

    def document(self, index: int) -> Ids:
        """The ids of one document."""
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def let_go(self) -> None:
        """Take the pages that were read out of this process's memory; the next look maps them again."""
        release_pages(self.ids)
        release_pages(self.offsets)

    def verify(self) -> None:
        """Read every byte. Raises FormatError where one is not what was written."""
        found = _checksum(self.rows, self.offsets, self.ids)
        if found != self.checksum:
            raise _not_a_shard(f"one with checksum {found} where {self.checksum} was written", self.path)


def _joined(batches: list[Batch]) -> Batch:
    """All batches as one, empty ones welcome. `batches` is emptied on the way, so no token is held twice for long."""
    rows = np.concatenate([np.zeros(0, np.int32), *(batch[0] for batch in batches)])
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(batch[1]) for batch in batches)])
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    ids = np.empty(offsets[-1], np.result_type(*(batch[2] for batch in batches)) if batches else np.uint16)
    end = len(ids)
    while batches:
        part = batches.pop()[2]
        ids[end - len(part) : end] = part
        end -= len(part)
    return rows, offsets, ids


def _checksum(rows: I32, offsets: I64, ids: Ids) -> str:
    digest = xxhash.xxh3_128()
    for array in (offsets, ids, rows):
        digest.update(array.data)
    return digest.hexdigest()


def _view(buffer: Any, dtype: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
    return np.frombuffer(buffer, dtype, length) if length else np.zeros(0, dtype)


def _metadata(schema: Any) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}


def _difference(reader: Any) -> str | None:
    schema = reader.schema
    metadata = _metadata(schema)
    if metadata.get("gristmill.kind") != KIND:
        return f"an Arrow file of kind `{metadata.get('gristmill.kind', 'none of ours')}`"
    if metadata.get("gristmill.version") != str(VERSION):
        return f"version {metadata.get('gristmill.version')}"
    missing = {"gristmill.tokenizer", "gristmill.checksum"} - metadata.keys()
    if missing:
        return f"one without {' and '.join(sorted(missing))}"
    kinds = [pa.large_list(pa.field("item", ids, nullable=False)) for ids in _ID_TYPES]
    if schema.names != ["row", "input_ids"] or schema.types not in ([pa.int32(), kind] for kind in kinds):
        return f"other columns ({', '.join(f'{field.name}: {field.type}' for field in schema)})"
    if reader.num_record_batches != 1:
        return f"{reader.num_record_batches} record batches instead of one"
    return None


def _not_a_shard(found: str, path: str | Path) -> FormatError:
    """The one sentence for all that can be wrong with a shard."""
    return FormatError(
        f"expected a {KIND} of version {VERSION}, found {found}: {path}\n"
        "  Run `gristmill run` again to rebuild this step."
    )

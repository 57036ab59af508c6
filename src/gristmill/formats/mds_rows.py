"""Rows as MosaicML's MDS: shards of limited size and the `index.json` that lists them.

    shard.00000.00000.mds[.zstd]   rows (uint32), rows + 1 byte offsets (uint32), the columns as JSON, the rows
    index.json                     version 2, each shard's rows, files and columns

Columns: `tokens`, an array of uint16 or uint32 (the name that MosaicML's own trainer looks for), and, where rows may
end in padding, `length`, the real tokens of the row. A row holds its columns by name; those without a fixed size have
theirs (uint32) in front. An array without a fixed shape begins with (dimensions << 2 | width code) and its shape.
What is guaranteed: a shard is held in memory while it is written, and below 4 GB, as its offsets have 32 bits.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from gristmill.errors import FormatError
from gristmill.formats import files
from gristmill.formats.row_batch import About, RowBatch
from gristmill.formats.training_sets import Compression, Options, Part

_MOST_BYTES = 2**32 - 1
_Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]  # byte offsets from 0, bytes


class MdsRows:
    """Writes and reads MDS."""

    def write_part(
        self, folder: Path, stem: str, about: About, options: Options, batches: Iterable[RowBatch]
    ) -> tuple[list[str], Mapping[str, Any]]:
        """As many shards as `shard_bytes` asks for."""
        config = _config(about, options)
        text = json.dumps(config, sort_keys=True).encode()
        shards = []
        for number, rows in enumerate(_shards(about, batches, min(options.shard_bytes, _MOST_BYTES), len(text))):
            shards.append(_write_shard(folder, f"shard.{stem}.{number:05}.mds", rows, text, options.compression))
        return [_stored(shard)["basename"] for shard in shards], {"shards": [{**shard, **config} for shard in shards]}

    def write_index(self, folder: Path, about: About, options: Options, parts: Sequence[Part]) -> list[str]:
        """index.json."""
        shards = [shard for part in parts for shard in part.details["shards"]]
        with files.atomic_file(folder / "index.json") as file:
            file.write(json.dumps({"version": 2, "shards": shards}, sort_keys=True).encode())
        return ["index.json"]

    def count(self, folder: Path, part: Part) -> tuple[int, int]:
        """By the shards' own offsets."""
        rows = ids = 0
        for shard in part.details["shards"]:
            for row in _rows_of(folder, shard):
                rows += 1
                ids += len(row)
        return rows, ids

    def read(self, folder: Path, files: Sequence[str]) -> Iterator[Any]:
        """The tokens of every row."""
        for shard in json.loads((folder / "index.json").read_bytes())["shards"]:
            yield from _rows_of(folder, shard)


def _config(about: About, options: Options) -> dict[str, Any]:
    """What every shard says of itself."""
    name = about.dtype.name
    width = about.sequence_length
    tokens = (f"ndarray:{name}", None) if width is None else (f"ndarray:{name}:{width}", width * about.dtype.itemsize)
    columns: dict[str, tuple[str, int | None]] = {"length": ("uint32", 4)} if about.may_pad else {}
    columns["tokens"] = tokens
    return {
        "version": 2,
        "format": "mds",
        "compression": None if options.compression.codec == "none" else str(options.compression),
        "hashes": [],
        "size_limit": options.shard_bytes,
        "column_names": list(columns),
        "column_encodings": [encoding for encoding, _ in columns.values()],
        "column_sizes": [size for _, size in columns.values()],
    }


def _shards(about: About, batches: Iterable[RowBatch], most_bytes: int, config_bytes: int) -> Iterator[list[_Rows]]:
    """The rows, encoded, in groups that fill a shard."""
    held: list[_Rows] = []
    fixed_bytes = 8 + config_bytes
    held_bytes = fixed_bytes
    for batch in batches:
        offsets, data = _fixed_rows(about, batch) if about.sequence_length else _documents(about, batch)
        start, rows = 0, batch.rows
        while start < rows:
            ends = offsets[start + 1 :] - offsets[start] + 4 * np.arange(1, rows - start + 1)
            fitting = int(np.searchsorted(ends, most_bytes - held_bytes, side="right"))
            if not fitting and not held:
                if fixed_bytes + ends[0] > _MOST_BYTES:
                    raise FormatError("expected rows below 4 GB for mds, found a larger one\n  Give a sequence length.")
                fitting = 1
            if fitting:
                stop = start + fitting
                held.append((offsets[start : stop + 1] - offsets[start], data[offsets[start] : offsets[stop]]))
                held_bytes += int(ends[fitting - 1])
                start = stop
            if start < rows:
                yield held
                held, held_bytes = [], fixed_bytes
    if held:
        yield held


def _fixed_rows(about: About, batch: RowBatch) -> _Rows:
    tokens = batch.ids.astype(about.dtype, copy=False).reshape(batch.rows, -1).view(np.uint8)
    if about.may_pad:
        lengths = batch.lengths.astype(np.uint32).reshape(-1, 1).view(np.uint8)
        tokens = np.concatenate([lengths, tokens], axis=1)
    return np.arange(batch.rows + 1, dtype=np.int64) * tokens.shape[1], tokens.reshape(-1)


def _documents(about: About, batch: RowBatch) -> _Rows:
    """Each row with its size, its shape and its ids, put together by Arrow."""
    id_bytes = about.dtype.itemsize
    sizes = np.diff(batch.offsets)
    width_codes = (sizes >= 1 << 8).astype(np.int64) + (sizes >= 1 << 16)
    heads: npt.NDArray[np.uint8] = np.zeros((batch.rows, 9), np.uint8)  # size: 4, shape's kind: 1, shape: 1, 2 or 4
    head_bytes = 5 + (1 << width_codes)
    heads[:, :4] = (sizes * id_bytes + head_bytes - 4).astype("<u4").reshape(-1, 1).view(np.uint8)
    heads[:, 4] = 1 << 2 | width_codes
    heads[:, 5:] = sizes.astype("<u4").reshape(-1, 1).view(np.uint8)
    used = np.arange(9) < head_bytes[:, None]
    joined = pc.binary_join_element_wise(
        _binaries(np.append(0, np.cumsum(head_bytes)), heads[used]),
        _binaries(batch.offsets * id_bytes, batch.ids.astype(about.dtype, copy=False).view(np.uint8)),
        pa.scalar(b"", pa.large_binary()),
    )
    _, offsets, data = joined.buffers()
    return np.frombuffer(offsets, np.int64, batch.rows + 1), np.frombuffer(data, np.uint8)


def _binaries(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Any:
    content = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, content)


def _write_shard(folder: Path, name: str, held: list[_Rows], config: bytes, compression: Compression) -> dict[str, Any]:
    sizes = np.concatenate([np.diff(offsets) for offsets, _ in held])
    head_bytes = 4 + 4 * (len(sizes) + 1) + len(config)
    offsets = np.append(0, np.cumsum(sizes)) + head_bytes
    pieces: list[Any] = [
        struct.pack("<I", len(sizes)),
        offsets.astype("<u4").data,
        config,
        *(data.data for _, data in held),
    ]
    raw = {"basename": name, "bytes": int(offsets[-1]), "hashes": {}}
    zipped = None
    if compression.codec == "zstd":
        content = zstandard.ZstdCompressor(compression.level or 1).compress(b"".join(pieces))
        pieces = [content]
        zipped = {"basename": f"{name}.zstd", "bytes": len(content), "hashes": {}}
    shard = {"samples": len(sizes), "raw_data": raw, "zip_data": zipped}
    with files.atomic_file(folder / _stored(shard)["basename"]) as file:
        for piece in pieces:
            file.write(piece)
    return shard


def _stored(shard: Mapping[str, Any]) -> Any:
    """The file that is on disk."""
    return shard["zip_data"] or shard["raw_data"]


def _rows_of(folder: Path, shard: Mapping[str, Any]) -> Iterator[Any]:
    path = folder / _stored(shard)["basename"]
    content = path.read_bytes()
    if shard["zip_data"]:
        content = zstandard.ZstdDecompressor().decompress(content)
    (rows,) = struct.unpack_from("<I", content)
    bounds = np.frombuffer(content, "<u4", rows + 1, 4).tolist()
    dtype = np.dtype(shard["column_encodings"][-1].split(":")[1])
    if shard["raw_data"]["bytes"] != len(content) or bounds[-1] != len(content) or rows != shard["samples"]:
        raise FormatError(f"expected an MDS shard of {shard['samples']:,} rows, found a damaged one: {path}")
    for begin, stop in pairwise(bounds):
        if shard["column_sizes"][-1] is None:  # size, kind of shape, shape of one dimension
            begin += 5 + (1 << (content[begin + 4] & 3))
        else:
            begin = stop - shard["column_sizes"][-1]
        yield np.frombuffer(content, dtype, (stop - begin) // dtype.itemsize, begin)

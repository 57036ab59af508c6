"""The slow, obvious twin of the MDS reader: index.json and shards, sample by sample, from MosaicML's format notes."""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import zstandard


def samples(folder: Path) -> list[dict[str, Any]]:
    """Every sample of a folder."""
    index = json.loads((folder / "index.json").read_text())
    assert index["version"] == 2
    return [sample for shard in index["shards"] for sample in _samples_of(folder, shard)]


def _samples_of(folder: Path, shard: dict[str, Any]) -> list[dict[str, Any]]:
    assert (shard["version"], shard["format"], shard["hashes"]) == (2, "mds", [])
    if shard["zip_data"]:
        content = (folder / shard["zip_data"]["basename"]).read_bytes()
        assert len(content) == shard["zip_data"]["bytes"]
        content = zstandard.ZstdDecompressor().decompress(content)
    else:
        content = (folder / shard["raw_data"]["basename"]).read_bytes()
    assert len(content) == shard["raw_data"]["bytes"]
    (count,) = struct.unpack_from("<I", content)
    assert count == shard["samples"]
    bounds = struct.unpack_from(f"<{count + 1}I", content, 4)
    names = (
        "version",
        "format",
        "compression",
        "hashes",
        "size_limit",
        "column_names",
        "column_encodings",
        "column_sizes",
    )
    assert json.loads(content[4 + 4 * (count + 1) : bounds[0]]) == {name: shard[name] for name in names}
    assert shard["column_names"] == sorted(shard["column_names"])
    return [_sample(shard, content[begin:end]) for begin, end in pairwise(bounds)]


def _sample(shard: dict[str, Any], data: bytes) -> dict[str, Any]:
    sizes = []
    for size in shard["column_sizes"]:
        if size is None:
            (size,) = struct.unpack_from("<I", data)
            data = data[4:]
        sizes.append(size)
    found = {}
    for name, encoding, size in zip(shard["column_names"], shard["column_encodings"], sizes, strict=True):
        value, data = data[:size], data[size:]
        kind, *rest = encoding.split(":")
        if kind == "uint32":
            (found[name],) = struct.unpack("<I", value)
            continue
        assert kind == "ndarray"
        dtype, *shape = rest
        if not shape:
            assert value[0] >> 2 == 1
            width = 1 << (value[0] & 3)
            shape = [int.from_bytes(value[1 : 1 + width], "little")]
            value = value[1 + width :]
        found[name] = np.frombuffer(value, dtype).reshape([int(size) for size in shape]).tolist()
    assert not data
    return found

"""Rows as Parquet at several levels of compression, beside packed rows: bytes a token, write and read speed.

    python bench/compression.py [DOCUMENTS]      20,000 documents of the demo corpus, rows of 2,048 tokens

What is written is `input_ids` of padded and of packed rows, and for padded ones `attention_mask`, in row groups of
1,000; what is read is all of it, into NumPy, the best of three. "Packed rows" are the files that `gristmill.load`
maps: read here is a copy of all ids, because mapping costs nothing.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.formats.packed_rows import PackedRows
from runs import make_runs

ROW_TOKENS = 2048
LEVELS: Mapping[str, dict[str, Any]] = {
    "none": {"compression": "none"},
    **{f"zstd {level}": {"compression": "zstd", "compression_level": level} for level in (1, 3, 22)},
}


def table_of(packed: PackedRows, way: str) -> Any:
    """The rows as columns of fixed-size lists."""
    ids = np.concatenate([packed.ids(row) for row in range(len(packed))])
    columns = {"input_ids": pa.FixedSizeListArray.from_arrays(pa.array(ids), ROW_TOKENS)}
    if way == "padded":
        lengths = np.array([packed.length(row) for row in range(len(packed))])
        mask = (np.arange(ROW_TOKENS) < lengths[:, None]).astype(np.uint8)
        columns["attention_mask"] = pa.FixedSizeListArray.from_arrays(pa.array(mask.reshape(-1)), ROW_TOKENS)
    return pa.table(columns)


def best_seconds(work: Callable[[], object], passes: int) -> float:
    best = float("inf")
    for _ in range(passes):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def read(path: Path) -> None:
    for column in pq.read_table(path, use_threads=False).columns:
        for chunk in column.chunks:
            chunk.flatten().to_numpy(zero_copy_only=False)


def measure(way: str, run: Path, root: Path) -> None:
    packed = PackedRows.open(run / "pack")
    tokens, table = packed.manifest.tokens, table_of(packed, way)
    print(f"{way}: {len(packed):,} rows, {tokens:,} tokens")
    print(f"  {'':14}{'bytes a token':>14}{'write, M tokens/s':>20}{'read, M tokens/s':>19}")

    def line(name: str, size: int, write_seconds: float | None, read_seconds: float) -> None:
        written = f"{tokens / write_seconds / 1e6:20,.2f}" if write_seconds else " " * 20
        print(f"  {name:14}{size / tokens:14.3f}{written}{tokens / read_seconds / 1e6:19,.1f}", flush=True)

    for name, options in LEVELS.items():
        path = root / f"{way}-{name}.parquet"
        seconds = best_seconds(lambda p=path, o=options: pq.write_table(table, p, row_group_size=1000, **o), 1)
        line(name, path.stat().st_size, seconds, best_seconds(lambda p=path: read(p), 3))
    size = sum(entry.bytes for entry in packed.manifest.files)
    line("packed rows", size, None, best_seconds(lambda: [packed.ids(row).copy() for row in range(len(packed))], 3))


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        runs = make_runs(Path(temporary), int(sys.argv[1]) if sys.argv[1:] else 20_000, ROW_TOKENS)
        for way, run in runs.items():
            measure(way, run, Path(temporary))


if __name__ == "__main__":
    main()

"""Rows → batches: tokens a second of the loader, beside plain memory copies of the same rows.

    python bench/loader_rows.py [FOLDER]

FOLDER is a run's output or a pack; without one, a pack of 64 M tokens in 16 files is made in a temporary folder.
Each figure is the best of three passes over all rows, files in the page cache.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from gristmill.formats import packed_rows
from gristmill.formats.packed_rows import Layout, PackedRows, Segments
from gristmill.loader import load

ROW_TOKENS, FILES, ROWS_A_FILE, MEAN_DOCUMENT_TOKENS = 2048, 16, 2048, 500


def make_pack(folder: Path) -> None:
    """Rows of random ids; document ends fall on each token with probability 1 / MEAN_DOCUMENT_TOKENS."""
    generator = np.random.default_rng(0)
    layout = Layout(ROW_TOKENS, "wrapped", 0, 50_257, "bench", ("bench",))
    entries = []
    for number in range(FILES):
        ids = generator.integers(0, layout.vocab_size, (ROWS_A_FILE, ROW_TOKENS)).astype(np.uint16)
        begins = generator.random(ids.shape) < 1 / MEAN_DOCUMENT_TOKENS
        begins[:, 0] = True
        starts = np.nonzero(begins)[1].astype(np.uint32)
        offsets = np.concatenate([[0], np.cumsum(begins.sum(1))])
        parts = len(starts)
        segments = Segments(
            offsets, starts, np.zeros(parts, np.uint16), np.arange(parts, dtype=np.uint64), np.zeros(parts, np.uint64)
        )
        lengths = np.full(ROWS_A_FILE, ROW_TOKENS, np.uint32)
        entries.append(packed_rows.write(folder / f"{number:05d}.arrow", layout, ids, lengths, segments))
    packed_rows.write_manifest(folder, layout, entries)


def drain(things: Iterable[object]) -> None:
    for _ in things:
        pass


def seconds(work: Callable[[], None]) -> float:
    """The best of three."""
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def measure(folder: Path) -> None:
    packed = PackedRows.open(folder)
    tokens = len(packed) * packed.manifest.layout.sequence_length
    begin = time.perf_counter()
    load(folder, framework="numpy")
    print(f"open {len(packed.manifest.files):,} files: {(time.perf_counter() - begin) * 1e3:.1f} ms")
    print(f"{'':34}{'M tokens/s':>12}")

    def report(name: str, work: Callable[[], None]) -> None:
        print(f"{name:34}{tokens / seconds(work) / 1e6:12,.0f}", flush=True)

    def copy_ids() -> None:
        for row in range(len(packed)):
            packed.ids(row).copy()

    for size in (8, 64):
        arrays = [np.ones((size, packed.manifest.layout.sequence_length), np.int64) for _ in range(3)]
        into = [np.empty_like(array) for array in arrays]

        def copy_batches(arrays: list[object] = arrays, into: list[object] = into, size: int = size) -> None:
            for _ in range(len(packed) // size):
                for source, target in zip(arrays, into, strict=True):
                    np.copyto(target, source)

        def copy_anew(arrays: list[np.ndarray] = arrays, size: int = size) -> None:
            for _ in range(len(packed) // size):
                [array.copy() for array in arrays]

        print(f"batches of {size} rows")
        report("  copy 3 x int64, same memory", copy_batches)
        report("  copy 3 x int64, new memory", copy_anew)
        report("  loader, numpy", lambda size=size: drain(load(folder, size, framework="numpy")))
        report(
            "  loader, numpy, shuffled", lambda size=size: drain(load(folder, size, framework="numpy", shuffle_seed=1))
        )
        report("  loader, numpy, 2 threads", lambda size=size: drain(load(folder, size, framework="numpy", workers=2)))
        report("  loader, torch", lambda size=size: drain(load(folder, size, framework="torch")))
        report(
            "  loader, torch, 2 processes", lambda size=size: drain(load(folder, size, framework="torch", workers=2))
        )
    report("row by row: copy of the ids", copy_ids)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            make_pack(Path(temporary))
            measure(Path(temporary))

"""What compression costs and saves: packed rows as Parquet at several levels; size, write speed, read speed.

    python bench/compression.py [OUTPUT] [--corpora DIR] [--tokenizer FILE] [--strategy best_fit] [--runs 3]

OUTPUT is a run's folder; without one, the corpora are tokenized into rows of 2,048. One process, files in the page
cache; reading is `pyarrow.parquet` to Arrow columns, on one thread. The best of several runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

import corpora
from gristmill.export import export
from gristmill.formats import row_batch, training_sets
from gristmill.formats.packed_rows import PackedRows
from gristmill.formats.row_batch import About, Stretch
from gristmill.formats.training_sets import Compression, Options
from gristmill.pretokenize import Request, tokenize_folder

LEVELS = ("none", "zstd:1", "zstd:3", "zstd:22", "lz4", "snappy")


def seconds(runs: int, work: Callable[[], object]) -> float:
    """The best of so many."""
    found = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)


def pack_of(options: argparse.Namespace, folder: Path) -> PackedRows:
    """The rows to write."""
    if options.output is not None:
        return PackedRows.open(export(options.output, "gristmill", folder / "set").folder)
    request = Request(str(options.corpora), folder / "set", str(options.tokenizer), 2048, options.strategy, "gristmill")
    return PackedRows.open(tokenize_folder(request).set.folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, nargs="?")
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--strategy", default="best_fit")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        packed = pack_of(options, Path(scratch))
        layout = packed.manifest.layout
        about = About("bench", layout.tokenizer_fingerprint, layout.vocab_size, layout.pad_id, layout.pad_id,
                      layout.strategy, layout.sequence_length, layout.sources)  # fmt: skip
        entries = packed.manifest.files
        stretches = [Stretch(str(packed.folder / entry.name), 0, entry.rows, 0) for entry in entries]
        tokens = packed.manifest.tokens
        print(f"{len(packed):,} rows of {layout.sequence_length:,}, {layout.strategy}, {tokens:,} tokens; ids alone "
              f"{tokens * layout.dtype.itemsize / 1e6:.1f} MB")  # fmt: skip
        print(f"{'':10}{'MB':>8}{'bytes a token':>15}{'write M tokens/s':>18}{'read M tokens/s':>17}")
        for level in LEVELS:
            choice = Options(Compression.parse(level))

            def write(choice: Options = choice) -> object:
                batches = row_batch.of_packed_rows(stretches, layout)
                return training_sets.write_part("parquet", Path(scratch), "rows", about, choice, batches)

            path = Path(scratch) / "rows.parquet"
            runs = 1 if level == "zstd:22" else options.runs
            writing = seconds(runs, write)
            reading = seconds(options.runs, lambda path=path: pq.read_table(path, use_threads=False, memory_map=True))
            size_bytes = path.stat().st_size
            print(f"{level:10}{size_bytes / 1e6:8.1f}{size_bytes / tokens:15.2f}{tokens / 1e6 / writing:18.1f}"
                  f"{tokens / 1e6 / reading:17.1f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

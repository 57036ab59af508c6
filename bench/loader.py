"""Rows to batches: tokens a second of the four ways, of peers reading the same rows, and of plain memory copies.

    python bench/loader.py [DOCUMENTS] [BATCH_SIZE]      20,000 documents of the demo corpus, 64 rows of 2,048 tokens

The peers (`datasets`, mosaicml-streaming, litdata) come with the `bench-loader` extra; what is not installed is left
out. A figure is the best of three passes over all rows, files in the page cache. Tokens are real ones: padding is
delivered, and not counted. The ceiling is what it takes to copy finished batches (three arrays of int64) out of
memory: "from memory", where each batch is copied from a store of all of them, as a loader that had them ready would
do; and "from the cache", one batch again and again, which no loader can do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.data import DataLoader

import gristmill as gm
from gristmill.loader.four_ways import WAYS, Collator
from runs import kept_texts, make_runs

ROW_TOKENS = 2048
PEERS = Path(__file__).parent / "peers" / "loader_rows.py"


def drain(things: Iterable[object]) -> None:
    for _ in things:
        pass


def report(name: str, tokens: int, work: Callable[[], None], passes: int = 3, places: int | None = None) -> None:
    best = float("inf")
    for _ in range(passes):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    line(name, tokens / best, (places or tokens) / best)


def line(name: str, tokens_per_second: float, places_per_second: float | None = None) -> None:
    places = "" if places_per_second is None else f"{places_per_second / 1e6:12,.2f}"
    print(f"  {name:52}{tokens_per_second / 1e6:12,.2f}{places}", flush=True)


def copies(rows: int, batch_size: int) -> None:
    tokens = rows // batch_size * batch_size * ROW_TOKENS
    store = np.ones((rows // batch_size, 3, batch_size, ROW_TOKENS), np.int64)
    report("copy of finished batches, from memory", tokens, lambda: drain(batch.copy() for batch in store))
    report("copy of a finished batch, from the cache", tokens, lambda: drain(store[0].copy() for _ in store))


def pretokenized(way: str, run: Path, batch_size: int) -> None:
    manifest = gm.load(run).manifest
    tokens, places = manifest.tokens, manifest.rows * ROW_TOKENS
    for name, options in {
        "NumPy": {"framework": "numpy"},
        "torch": {"framework": "torch"},
        "torch, shuffled": {"framework": "torch", "shuffle_seed": 1},
        "torch, 2 workers": {"framework": "torch", "workers": 2},
    }.items():
        work = partial(lambda given: drain(gm.load(run, batch_size, **given)), options)
        report(f"{way}, gm.load, {name}", tokens, work, places=places)
    dataset = WAYS[way](run)
    loader = DataLoader(dataset, batch_size, collate_fn=Collator(dataset.pad_id))
    report(f"{way}, dataset in a DataLoader", tokens, lambda: drain(loader), places=places)


def on_the_fly(way: str, run: Path, batch_size: int, tokens: int) -> None:
    layout = gm.load(run).manifest.layout
    dataset = WAYS[way](
        kept_texts(run), run / "pack" / layout.tokenizer_file, layout.sequence_length, eos_id=layout.pad_id
    )
    for workers in (0, 2):
        collate = Collator(dataset.pad_id)
        loader = DataLoader(dataset, batch_size, num_workers=workers, collate_fn=collate)
        report(f"{way}, {workers} workers", tokens, lambda loader=loader: drain(loader), passes=1)


def peer(name: str, run: Path, root: Path, batch_size: int) -> None:
    command = [sys.executable, str(PEERS), name, str(run / "pack"), str(root / name), str(batch_size)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        why = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode
        print(f"  {name}: not measured ({why})")
        return
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    for way, tokens_per_second in found.items():
        line(way, tokens_per_second)


def main() -> None:
    documents, batch_size = (int(given) for given in (sys.argv[1:] + ["20000", "64"][len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        runs = make_runs(root, documents, ROW_TOKENS)
        for way, run in runs.items():
            manifest = gm.load(run).manifest
            padding = 1 - manifest.tokens / (manifest.rows * ROW_TOKENS)
            print(f"{way}: {manifest.rows:,} rows, {manifest.tokens:,} tokens, {padding:.1%} padding")
        tokens = gm.load(runs["packed"]).manifest.tokens
        print(f"{f'batches of {batch_size} rows':54}{'M tokens/s':>12}{'M places/s':>12}")
        copies(gm.load(runs["packed"]).manifest.rows, batch_size)
        for way, run in runs.items():
            pretokenized(way, run, batch_size)
        for way in ("padding-free-on-the-fly", "padded-on-the-fly"):
            on_the_fly(way, runs["packed"], batch_size, tokens)
        for name in ("datasets", "streaming", "litdata"):
            peer(name, runs["packed"], root, batch_size)


if __name__ == "__main__":
    main()

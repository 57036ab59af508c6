"""Documents into rows, against TRL's `pack_dataset`: seconds, rows, cropped tokens and padding, on the same documents.

    python bench/packing.py [DOCUMENTS ...]         100,000 and 1,000,000 if not said; needs the `bench-loader` extra

Both start with token ids in memory and end with packed ids in memory; ours besides keeps where every document went.
Lengths are lognormal, median 120, mean 247; rows are 2,048 tokens, so that about 1 % of documents are longer.
TRL packs what one call of `datasets.map` hands it, 1,000 documents unless told otherwise; it is shown both ways.
"bfd" crops documents that are longer than a row, "bfd_split" splits them as ours does. "wrapped" all at once moves no
token, it only cuts Arrow's list anew: beside that stands what ours takes without moving any.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.formats.draw_plan import Draws
from gristmill.packing.gather import gather, segments_of
from gristmill.packing.packers import PACKERS, Planned

ROW_TOKENS = 2048
WINDOW_TOKENS = 16 << 20  # what recipes have if they do not say otherwise
I64 = npt.NDArray[np.int64]


class Documents(NamedTuple):
    """Token ids end to end, and where each document begins."""

    offsets: I64
    ids: npt.NDArray[np.uint16]

    @property
    def lengths(self) -> I64:
        return np.diff(self.offsets)


class Packed(NamedTuple):
    """What became of them."""

    rows: int
    tokens: int

    def line(self, name: str, seconds: float, all_tokens: int) -> str:
        cropped = 1 - self.tokens / all_tokens
        padding = 1 - self.tokens / (self.rows * ROW_TOKENS)
        return f"  {name:42}{seconds:9.3f} s{self.rows:11,} rows{cropped:9.3%} cropped{padding:9.3%} padding"


class OneShard:
    """All documents as the one shard of one source."""

    name = "bench"

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.first_document = np.array([0, len(documents.lengths)])

    def shard(self, number: int) -> tuple[I64, npt.NDArray[np.uint16]]:
        return self._documents.offsets, self._documents.ids

    def let_go(self, number: int) -> None:
        """They are in memory for all benches."""


def make_documents(count: int) -> Documents:
    generator = np.random.default_rng(0)
    lengths = np.maximum(1, generator.lognormal(np.log(120), 1.2, count)).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Documents(offsets, generator.integers(0, 50_000, offsets[-1]).astype(np.uint16))


def windows(lengths: I64, window_tokens: int) -> Iterator[slice]:
    """Consecutive documents of up to so many tokens."""
    ends = np.cumsum(lengths)
    begin = 0
    while begin < len(lengths):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + window_tokens, side="right")))
        yield slice(begin, end)
        begin = end


def planned_only(documents: Documents, strategy: str) -> Packed:
    """Which token goes where, no token moved."""
    bins = PACKERS[strategy].plan(documents.lengths, ROW_TOKENS)
    return Packed(bins.rows, bins.rows * ROW_TOKENS - bins.padding_tokens)


def ours(documents: Documents, strategy: str, window_tokens: int) -> Packed:
    """Plan and gather, window by window as `gristmill run` does it."""
    lengths, source = documents.lengths, OneShard(documents)
    rows = tokens = 0
    for window in windows(lengths, window_tokens):
        bins = PACKERS[strategy].plan(lengths[window], ROW_TOKENS)
        count = window.stop - window.start
        numbers = np.arange(window.start, window.stop, dtype=np.uint64)
        planned = Planned(Draws(np.zeros(count, np.uint16), numbers, lengths[window].astype(np.uint32)), bins)
        gather(planned, [source], 0, np.uint16)
        segments_of(planned)
        rows, tokens = rows + bins.rows, tokens + bins.rows * ROW_TOKENS - bins.padding_tokens
    return Packed(rows, tokens)


def trl(dataset: Any, strategy: str, batch_size: int) -> Packed:
    from trl import pack_dataset

    packed = pack_dataset(dataset, ROW_TOKENS, strategy, {"batch_size": batch_size})
    offsets = [chunk.offsets.to_numpy() for chunk in packed.with_format("arrow")[:]["input_ids"].chunks]
    return Packed(len(packed), int(sum(bounds[-1] - bounds[0] for bounds in offsets)))


def report(name: str, all_tokens: int, work: Callable[[], Packed]) -> Packed:
    """The best of three runs, or of as many as fit into ten seconds."""
    best, began = float("inf"), time.perf_counter()
    for _ in range(3):
        begin = time.perf_counter()
        packed = work()
        best = min(best, time.perf_counter() - begin)
        if time.perf_counter() - began > 10:
            break
    print(packed.line(name, best, all_tokens), flush=True)
    return packed


def measure(count: int) -> None:
    documents = make_documents(count)
    tokens = int(documents.offsets[-1])
    print(f"{count:,} documents, {tokens:,} tokens")
    report("ours, wrapped, planned only", tokens, lambda: planned_only(documents, "wrapped"))
    report("ours, wrapped", tokens, lambda: ours(documents, "wrapped", tokens))
    report("ours, best fit, planned only", tokens, lambda: planned_only(documents, "best_fit"))
    bounded = report(
        "ours, best fit, windows of 16 M tokens", tokens, lambda: ours(documents, "best_fit", WINDOW_TOKENS)
    )
    unbounded = report("ours, best fit, one window", tokens, lambda: ours(documents, "best_fit", tokens))
    print(f"  rows in bounded windows against one window: {bounded.rows / unbounded.rows - 1:+.3%}", flush=True)
    try:
        import datasets
        import trl as _  # noqa: F401
    except ImportError:
        print("  trl is not installed: pip install 'gristmill[bench-loader]'")
        return
    datasets.disable_progress_bars()
    values = pa.array(documents.ids.astype(np.int32))
    column = pa.LargeListArray.from_arrays(pa.array(documents.offsets), values).cast(pa.list_(pa.int32()))
    dataset = datasets.Dataset(pa.table({"input_ids": column}))
    for strategy in ("wrapped", "bfd", "bfd_split"):
        for name, size in (("1,000 documents a call", 1000), ("all at once", count)):
            report(f"TRL, {strategy}, {name}", tokens, lambda s=strategy, n=size: trl(dataset, s, n))


if __name__ == "__main__":
    for documents_count in map(int, sys.argv[1:] or ("100000", "1000000")):
        measure(documents_count)

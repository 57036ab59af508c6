"""The one step of a Bloom filter: sketches in the order of documents → drops, and the filter if it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gristmill.engine.step import Outcome, Step, Task
from gristmill.errors import RecipeError
from gristmill.formats import bloom_bits
from gristmill.quantities import show_bytes, show_count
from gristmill.route.dedup_index import Remembered
from gristmill.route.drop_files import EARLIER, ChunkPlace, DropWriter
from gristmill.units import Choice

VERSION = 1
FILTER_FILE = "filter.arrow"


@dataclass(frozen=True)
class BloomWork:
    """All chunks in order, and the filter to begin with."""

    choice: Choice
    unit: str
    places: tuple[ChunkPlace, ...]
    documents: int
    before: str | None  # the filter that earlier runs left
    documents_before: int
    keep: bool


def step(
    name: str, unit: str, choice: Choice, places: Sequence[ChunkPlace], sums: Sequence[Any], memory_bytes: int,
    documents: int, remembered: Remembered, reads: tuple[Step, ...],
) -> Step:  # fmt: skip
    """The step. Raises RecipeError where the filter does not fit into half of the memory."""
    filter_bytes = choice.make("deduplicator").filter_bits() // 8
    if filter_bytes > memory_bytes // 2:
        raise RecipeError(
            f"expected engine.memory of at least {show_bytes(2 * filter_bytes)} for the Bloom filter of `{unit}`, "
            f"which takes {show_bytes(filter_bytes)}, found {show_bytes(memory_bytes)}\n"
            "  Lower its capacity, allow more mistakes, or use `exact`, which needs no memory of that kind."
        )
    earlier = remembered.earlier()[-1:]  # each holds what the ones before it hold
    work = BloomWork(
        choice, unit, tuple(places), documents, earlier[0].path if earlier else None,
        sum(file.documents for file in earlier), bool(remembered),
    )  # fmt: skip
    inputs = {"chunks": list(sums), "earlier": [file.checksum for file in earlier]}
    sketch_bytes = sum(16 * place.rows for place in places)
    literals = {"unit": unit, "deduplicator": choice.sketching_literals(), "keep": work.keep}
    task = Task("drops", inputs, work, bytes=sketch_bytes)
    return Step(name, "gristmill.route.dedup_bloom:run", VERSION, literals, [task], reads, reads[0].meanwhile)


def run(work: BloomWork, folder: Path, stem: str) -> Outcome:
    """The task: see one document after another."""
    unit = work.choice.make("deduplicator")
    words = np.zeros(unit.filter_bits() // 64, np.uint64) if work.before is None else bloom_bits.read(work.before)
    writer = DropWriter(folder, work.unit, work.places, work.documents, unknown=work.unit)
    documents = work.documents_before
    for chunk, place in enumerate(work.places):
        left = place.sketches.left()
        gone = []
        row = 0
        for low, high in place.sketches.batches(["low", "high"]):
            there = np.flatnonzero(left[row : row + len(low)] & low.is_valid().to_numpy(zero_copy_only=False))
            halves = (half.fill_null(0).to_numpy()[there] for half in (low, high))
            seen = unit.seen(*halves, words)
            gone.append(row + there[seen])
            documents += len(there) - int(seen.sum())
            row += len(low)
        rows = np.concatenate([np.zeros(0, np.int64), *gone])
        writer.write(chunk, rows, np.full(len(rows), EARLIER))
    files, notices = writer.files, writer.notices()
    if work.keep:
        bloom_bits.write(folder / FILTER_FILE, words)
        files = [*files, FILTER_FILE]
    if documents > unit.documents():
        notices.append(
            f"the Bloom filter of `{work.unit}` holds {show_count(documents)} documents, more than its capacity of "
            f"{show_count(unit.documents())}: a document is now dropped wrongly with a probability of "
            f"{unit.rate_at(documents):.2g}"
        )
    return Outcome({**writer.counts(), "documents": documents}, files, notices)

"""sketch: surviving, cut texts → sketches, for deduplicators that stand behind one that cuts. One task a chunk.

Those before it are sketched by sift, which reads the text anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from gristmill.document import DOCUMENTS
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats.documents import DocumentWriter
from gristmill.route.survivors import ChunkFiles, SiftedChunk, surviving
from gristmill.units import Choice

VERSION = 1


@dataclass(frozen=True)
class SketchWork:
    """One chunk's documents, and who sketches."""

    chunk: ChunkFiles
    unit: Choice


def steps(unit: Choice, chunks: Sequence[SiftedChunk], reads: tuple[Step, ...]) -> list[Step]:
    """One step a source."""
    tasks: dict[str, list[Task]] = {}
    for chunk in chunks:
        task = Task(chunk.stem, chunk.inputs(), SketchWork(chunk.files(), unit), int(chunk.judged.counts["kept_bytes"]))
        tasks.setdefault(chunk.source, []).append(task)
    literals = {"deduplicator": unit.literals("deduplicator")}
    return [
        Step(f"dedup/{unit.name}.sketches/{source}", "gristmill.route.sketch:run", VERSION, literals, of_source, reads)
        for source, of_source in tasks.items()
    ]


def run(work: SketchWork, folder: Path, stem: str) -> Outcome:
    """The task: one Parquet file, `row` and the unit's columns."""
    unit = work.unit.make("deduplicator")
    nothing = pa.array([], pa.large_string())
    columns = {name: pa.array(column) for name, column in unit.sketch(nothing).items()}
    schema = pa.schema([DOCUMENTS.field("row"), *(pa.field(name, column.type) for name, column in columns.items())])
    docs = 0
    with DocumentWriter(folder / f"{stem}.parquet", schema, "sketches") as writer:
        for batch in surviving(work.chunk, ["text"]):
            sketched = {name: pa.array(column) for name, column in unit.sketch(batch.column("text")).items()}
            writer.write(pa.record_batch({"row": batch.column("row"), **sketched}))
            docs += len(batch)
    return Outcome({"docs": docs}, [f"{stem}.parquet"])

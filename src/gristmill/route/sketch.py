"""sketch: surviving, cut texts → sketches, for deduplicators that stand behind one that cuts. One task a chunk.

Those before it are sketched by sift, which reads the text anyway. The files are alike: a row for each row read, null
where the document is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.dedup import sequence
from gristmill.document import DOCUMENTS
from gristmill.engine.step import Outcome, Step, Task
from gristmill.filters.sequence import BYTES
from gristmill.formats.documents import DocumentWriter
from gristmill.route.sift import column_of, numbers_of
from gristmill.route.survivors import ChunkFiles, SiftedChunk, surviving
from gristmill.units import Choice

VERSION = 1
_COLUMNS = ("id", "text", "metadata")


@dataclass(frozen=True)
class SketchWork:
    """One chunk's documents, and who sketches."""

    chunk: ChunkFiles
    rows: int  # read, of which the documents are some
    name: str  # of the unit in this recipe
    unit: Choice


def steps(name: str, unit: Choice, chunks: Sequence[SiftedChunk], reads: tuple[Step, ...]) -> list[Step]:
    """One step a source."""
    tasks: dict[str, list[Task]] = {}
    for chunk in chunks:
        work = SketchWork(chunk.files(), int(chunk.sifted.counts["rows"]), name, unit)
        task = Task(chunk.stem, chunk.inputs(), work, int(chunk.judged.counts["kept_bytes"]))
        tasks.setdefault(chunk.source, []).append(task)
    literals = {"unit": name, "deduplicator": unit.sketching_literals()}
    return [
        Step(f"dedup/{name}.sketches/{source}", "gristmill.route.sketch:run", VERSION, literals, of_source, reads)
        for source, of_source in tasks.items()
    ]


def run(work: SketchWork, folder: Path, stem: str) -> Outcome:
    """The task: one Parquet file, `row`, the bytes of each text and the unit's columns."""
    units = [(work.name, work.unit.make("deduplicator"))]
    parts = [_sketches(units, pa.RecordBatch.from_pylist([], schema=DOCUMENTS))]
    parts += [_sketches(units, batch) for batch in surviving(work.chunk, _COLUMNS)]
    sketches = pa.concat_tables(parts)
    places = np.full(work.rows, -1, np.int64)
    places[sketches["row"].to_numpy()] = np.arange(len(sketches))
    spread = sketches.drop_columns(["row"]).take(pa.array(places, mask=places < 0))
    table = spread.add_column(0, "row", pa.array(np.arange(work.rows, dtype=np.int32)))
    with DocumentWriter(folder / f"{stem}.parquet", table.schema, "sketches") as writer:
        for batch in table.combine_chunks().to_batches():
            writer.write(batch)
    return Outcome({"docs": len(sketches)}, [f"{stem}.parquet"])


def _sketches(units: Sequence[tuple[str, Any]], batch: Any) -> Any:
    documents = {name: batch.column(name) for name in _COLUMNS}
    found = sequence.sketches(units, documents["text"], partial(column_of, documents), partial(numbers_of, documents))
    sizes = pc.binary_length(documents["text"])
    return pa.table(
        {"row": batch.column("row"), BYTES: sizes, **{name: pa.array(column) for name, column in found.items()}}
    )

"""Small inputs for deduplicators, and the steps of those by hashes in one call."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.dedup import sorting
from gristmill.dedup.clusters import Clusters
from gristmill.dedup.sketches import SketchFile
from gristmill.formats import drops
from gristmill.formats.documents import DocumentWriter


def write_sketches(
    folder: Path,
    unit: Any,
    chunks: Sequence[Sequence[str]],
    verdicts: Sequence[Sequence[str | None]] | None = None,
    gone: Sequence[Sequence[int]] | None = None,
) -> list[SketchFile]:
    """Each chunk's sketches as sift writes them. `gone`: rows that earlier deduplicators took."""
    files = []
    for number, texts in enumerate(chunks):
        columns = unit.sketch(pa.array(texts, pa.large_string()))
        rows = pa.array(np.arange(len(texts), dtype=np.int32))
        sketches, judged = folder / f"{number}.parquet", folder / f"{number}.verdicts.parquet"
        of_chunk = pa.array(verdicts[number] if verdicts else [None] * len(texts), pa.string()).dictionary_encode()
        for path, table in ((sketches, {"row": rows, **columns}), (judged, {"row": rows, "verdict": of_chunk})):
            batch = pa.record_batch({name: pa.array(column) for name, column in table.items()})
            with DocumentWriter(path, batch.schema, "test") as writer:
                writer.write(batch)
        taken = ()
        if gone and gone[number]:
            taken = (str(folder / f"{number}.drops.parquet"),)
            drops.write(Path(taken[0]), _drops(gone[number]))
        files.append(SketchFile(str(sketches), str(judged), number, unit.NAME, taken))
    return files


def duplicates_of(
    unit: Any,
    files: Sequence[SketchFile],
    folder: Path,
    part_docs: int = 5,
    earlier: Sequence[Path] = (),
    chunks_a_run: int = 2,
) -> dict[int, int]:
    """Position (from 1) of each document that goes → position of the one that stays."""
    rows = [len(file.left()) for file in files]
    runs, docs = [], 0
    for start in range(0, len(files), chunks_a_run):
        path = folder / f"{start}.run.arrow"
        some = slice(start, start + chunks_a_run)
        docs += sorting.sort_sketches(files[some], rows[some], unit.bands(), path, 1 + sum(rows[:start]))
        runs.append(path)
    parts = -(-docs // part_docs) or 1
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    clusters = Clusters(sum(rows), scratch)
    for band in range(len(unit.bands())):
        clusters.add(sorting.pairs_of(runs, list(earlier), band, part, parts) for part in range(parts))
    clusters.close()
    goes, stays = clusters.gone(1, sum(rows))
    found = dict(zip(goes.tolist(), stays.tolist(), strict=True))
    shutil.rmtree(scratch)
    return found


def _drops(rows: Sequence[int]) -> Any:
    nobody = [0] * len(rows)
    columns = [rows, ["exact"] * len(rows), ["one"] * len(rows), nobody, nobody]
    return pa.record_batch([pa.array(column) for column in columns], names=drops.SCHEMA.names)

"""Which row of which chunk is meant: a document's own id, SOURCE/CHUNK/ROW, or FILE:POSITION of a raw row.

By scanning columns, a chunk at a time in threads. What nobody has is a GristmillError that names near ones.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from gristmill.errors import RecipeError
from gristmill.formats.documents import read_batches
from gristmill.verification.run_folder import RunChunk, RunFolder

_TRIPLE = re.compile(r"(?P<source>[^/]+)/(?P<chunk>\d+)/(?P<row>\d+)")
_PLACE = re.compile(r"(?P<file>.+):(?P<position>[\d,_]+)", re.DOTALL)
_THREADS = 8
_MOST_NEAR = 2_000


class Place(NamedTuple):
    """One row that was read."""

    chunk: RunChunk
    row: int


def find_document(run: RunFolder, wanted: str) -> list[Place]:
    """All rows that are meant; several where documents share an id."""
    found = [*_by_triple(run, wanted), *_by_position(run, wanted)] or _by_id(run, wanted)
    if found:
        return found
    near = _near(run, wanted)
    guess = f"\n  Near it: {', '.join(near)}." if near else ""
    raise RecipeError(
        f"expected the id of a document, SOURCE/CHUNK/ROW or FILE:POSITION, found `{wanted}`, which none of "
        f"{sum(int(chunk.sifted.sifted.counts['rows']) for chunk in run.chunks):,} rows has: {run.path}{guess}"
    )


def id_of(place: Place) -> str | None:
    """The document's id; None where the row is no document."""
    for path in _with_texts(place.chunk):
        for batch in read_batches(path, ["row", "id"]):
            at = pc.index(batch.column("row"), pa.scalar(place.row, pa.int32())).as_py()
            if at >= 0:
                found: str | None = batch.column("id")[at].as_py()
                return found
    return None


def _by_triple(run: RunFolder, wanted: str) -> list[Place]:
    match = _TRIPLE.fullmatch(wanted)
    chunks = [chunk for chunk in run.chunks if match and chunk.name == f"{match['source']}/{int(match['chunk']):05}"]
    return [
        Place(chunk, int(match["row"]))
        for chunk in chunks
        if match and int(match["row"]) < int(chunk.sifted.sifted.counts["rows"])
    ]


def _by_position(run: RunFolder, wanted: str) -> list[Place]:
    match = _PLACE.fullmatch(wanted)
    if match is None:
        return []
    position = int(re.sub("[,_]", "", match["position"]))
    places = []
    for chunk in run.chunks:
        names = chunk.sifted.sifted.counts.get("files", ())
        ending = f"/{match['file']}"
        numbers = [number for number, name in enumerate(names) if name == match["file"] or name.endswith(ending)]
        for batch in read_batches(chunk.signals, ["row", "file", "position"]) if numbers else ():
            here = pc.and_(pc.is_in(batch.column("file"), pa.array(numbers, pa.int32())),
                           pc.equal(batch.column("position"), position))  # fmt: skip
            places += [Place(chunk, row) for row in batch.column("row").filter(here).to_pylist()]
    return places


def _by_id(run: RunFolder, wanted: str) -> list[Place]:
    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(partial(_rows_with_id, wanted=wanted), run.chunks))
    return [Place(chunk, row) for chunk, rows in zip(run.chunks, found, strict=True) for row in sorted(rows)]


def _rows_with_id(chunk: RunChunk, wanted: str) -> list[int]:
    return [
        row
        for path in _with_texts(chunk)
        for batch in read_batches(path, ["row", "id"])
        for row in batch.column("row").filter(pc.equal(batch.column("id"), wanted)).to_pylist()
    ]


def _with_texts(chunk: RunChunk) -> list[Path]:
    """The files that hold the chunk's documents, kept and dropped."""
    files = chunk.files
    return [Path(path) for path in (files.kept, files.dropped) if path is not None]


def _near(run: RunFolder, wanted: str) -> list[str]:
    """Ids that begin or end as the wanted one does, as much of it as any has; of these the most similar."""
    for length in sorted({len(wanted) * part // 8 for part in range(7, 1, -1)} - {0}, reverse=True):
        tests = [partial(pc.starts_with, pattern=wanted[:length]), partial(pc.ends_with, pattern=wanted[-length:])]
        with ThreadPoolExecutor(_THREADS) as pool:
            found = [id_ for ids in pool.map(partial(_ids_that, tests=tests), run.chunks) for id_ in ids]
        if found:
            return difflib.get_close_matches(wanted, found[:_MOST_NEAR], n=3, cutoff=0.0)
    return []


def _ids_that(chunk: RunChunk, tests: Sequence[Any]) -> Iterable[str]:
    found: list[str] = []
    for path in _with_texts(chunk):
        for batch in read_batches(path, ["id"]):
            ids = batch.column("id")
            for test in tests:
                found += ids.filter(test(ids)).slice(0, _MOST_NEAR - len(found)).to_pylist()
    return found

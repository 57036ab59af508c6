"""Some documents of each source and reason, dropped and kept, as the page shows them.

They are those whose places have the lowest hashes, within a chunk and row group that are chosen by hash, too: so they
are the same each time, lie together on disk, and nobody picked them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import xxhash

from gristmill.report.duplicates import Document
from gristmill.report.evidence.folder import RunFolder
from gristmill.report.evidence.judged import JudgedChunk
from gristmill.report.evidence.marked import marked
from gristmill.report.evidence.texts import TextStore

MOST = 320
MOST_OF_A_KIND = 6  # of one source and one reason
_MARKED_CHARACTERS = 50_000  # at the beginning of each text
NO_REASON = ""  # of those that were not dropped


def samples(run: RunFolder, chunks: Sequence[JudgedChunk], texts: TextStore) -> list[dict[str, Any]]:
    """At most MOST, reasons in the order of the rules, kept ones last."""
    candidates: dict[tuple[str, str], list[tuple[JudgedChunk, int]]] = {}
    for chunk in sorted(chunks, key=lambda one: _hash(one.chunk.source, one.chunk.number)):
        for reason, places in _by_reason(chunk).items():
            of_kind = candidates.setdefault((reason, chunk.chunk.source), [])
            if len(of_kind) < MOST_OF_A_KIND:
                of_kind += [(chunk, place) for place in _chosen(chunk, places, texts, MOST_OF_A_KIND - len(of_kind))]
    order = {name: number for number, (name, _) in enumerate(_rules(chunks))}
    kinds = sorted(candidates, key=lambda kind: (kind[0] == NO_REASON, order.get(kind[0], len(order)), kind[0]))
    of_each = max(1, min(MOST_OF_A_KIND, MOST // max(len(kinds), 1)))
    found = []
    for reason, source in kinds[:MOST]:
        for chunk, place in candidates[reason, source][:of_each]:
            sample = _sample(chunk, place, reason, texts)
            if sample is not None:
                found.append(sample)
    return found


def _rules(chunks: Sequence[JudgedChunk]) -> list[tuple[str, Any]]:
    return max((chunk.broken for chunk in chunks), key=len, default=[])


def _by_reason(chunk: JudgedChunk) -> dict[str, npt.NDArray[np.int64]]:
    """Where in the chunk's rows each reason was given."""
    codes = pc.fill_null(chunk.verdicts, NO_REASON).dictionary_encode()
    indices = codes.indices.to_numpy()
    return {reason: np.flatnonzero(indices == code) for code, reason in enumerate(codes.dictionary.to_pylist())}


def _chosen(chunk: JudgedChunk, places: npt.NDArray[np.int64], texts: TextStore, wanted: int) -> list[int]:
    """Of these rows those with the lowest hashes, from as few row groups as have so many, the smallest first."""
    rows = chunk.rows[places]
    hashes = _hashes(chunk, rows)
    chosen: list[int] = []
    for group in sorted(texts.groups(chunk.chunk), key=lambda one: one.bytes):
        if len(chosen) < wanted:
            inside = np.flatnonzero((rows >= group.first) & (rows <= group.last))
            found = places[inside[np.argsort(hashes[inside], kind="stable")]].tolist()
            chosen += [place for place in found if place not in chosen][: wanted - len(chosen)]
    return chosen


def _hash(source: str, number: int) -> int:
    return xxhash.xxh64_intdigest(f"{source}/{number}".encode())


def _hashes(chunk: JudgedChunk, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
    """A number for each row that does not depend on the others: splitmix64 of the row and the chunk."""
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(_hash(*chunk.chunk))
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    finished: npt.NDArray[np.uint64] = mixed ^ mixed >> np.uint64(31)
    return finished


def _sample(chunk: JudgedChunk, place: int, reason: str, texts: TextStore) -> dict[str, Any] | None:
    row = int(chunk.rows[place])
    found = texts.text(Document(chunk.chunk.source, chunk.chunk.number, row))
    if found is None:
        return None
    return {
        "source": chunk.chunk.source,
        "id": found.id,
        "chunk": chunk.chunk.number,
        "row": row,
        "reason": reason,
        "also": [name for name, which in chunk.broken if which[place] and name != reason],
        "measured": _measured(chunk, place, reason),
        "url": _url(found.metadata),
        "characters": len(found.text),
        "pieces": marked(found.text, chunk.filters.marks(found.text[:_MARKED_CHARACTERS], reason) if reason else ()),
    }


def _measured(chunk: JudgedChunk, place: int, reason: str) -> list[Any] | None:
    """The signal that decided, its value here, and the bounds."""
    rule = chunk.bounds.get(reason)
    if rule is None:
        return None
    value = float(np.asarray(chunk.signals[rule.signal])[place])
    return [rule.signal, None if np.isnan(value) else float(f"{value:.6g}"), rule.minimum, rule.maximum]


def _url(metadata: str | None) -> str | None:
    try:
        url = json.loads(metadata or "{}").get("url")
    except (ValueError, AttributeError):
        return None
    return url if isinstance(url, str) else None

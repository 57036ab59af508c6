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

MOST_DROPPED, MOST_KEPT = 180, 60
MOST_OF_A_KIND = 6  # of one source and one reason
_DROPPED_BYTES, _KEPT_BYTES = 12 << 20, 9 << 20  # of row groups, decompressed
_MARKED_CHARACTERS = 20_000  # at the beginning of each text
NO_REASON = ""  # of those that were not dropped


def samples(run: RunFolder, chunks: Sequence[JudgedChunk], texts: TextStore) -> list[dict[str, Any]]:
    """Reasons in the order of the rules, kept ones last."""
    candidates: dict[tuple[str, str], list[tuple[JudgedChunk, int]]] = {}
    for chunk in sorted(chunks, key=lambda one: _hash(one.chunk.source, one.chunk.number)):
        for reason, places in _by_reason(chunk).items():
            of_kind = candidates.setdefault((reason, chunk.chunk.source), [])
            if len(of_kind) < MOST_OF_A_KIND:
                chosen = _chosen(chunk, places, reason != NO_REASON, texts, MOST_OF_A_KIND - len(of_kind))
                of_kind += [(chunk, place) for place in chosen]
    order = {name: number for number, (name, _) in enumerate(_rules(chunks))}
    rows = {entry.source: entry.entered for entry in run.ledger.of("sift")}
    dropped = [kind for kind in candidates if kind[0] != NO_REASON]
    kept = [kind for kind in candidates if kind[0] == NO_REASON]
    found: list[tuple[tuple[int, str, str], dict[str, Any]]] = []
    for kinds, most, text_bytes in ((dropped, MOST_DROPPED, _DROPPED_BYTES), (kept, MOST_KEPT, _KEPT_BYTES)):
        texts.allow(text_bytes)
        kinds.sort(key=lambda kind: (order.get(kind[0], len(order)), kind[0], -rows[kind[1]]))
        shown: list[tuple[tuple[int, str, str], dict[str, Any]]] = []
        for turn in range(MOST_OF_A_KIND):  # one of each kind, then the second of each
            for number, kind in enumerate(kinds):
                if turn < len(candidates[kind]) and len(shown) < most:
                    sample = _sample(*candidates[kind][turn], kind[0], texts)
                    shown += [((number, *kind), sample)] if sample is not None else []
        found += sorted(shown, key=lambda one: one[0])
    return [sample for _, sample in found]


def _rules(chunks: Sequence[JudgedChunk]) -> list[tuple[str, Any]]:
    return max((chunk.broken for chunk in chunks), key=len, default=[])


def _by_reason(chunk: JudgedChunk) -> dict[str, npt.NDArray[np.int64]]:
    """Where in the chunk's rows each reason was given."""
    codes = pc.fill_null(chunk.verdicts, NO_REASON).dictionary_encode()
    indices = codes.indices.to_numpy()
    return {reason: np.flatnonzero(indices == code) for code, reason in enumerate(codes.dictionary.to_pylist())}


def _chosen(
    chunk: JudgedChunk, places: npt.NDArray[np.int64], dropped: bool, texts: TextStore, wanted: int
) -> list[int]:
    """Of these rows those with the lowest hashes, from as few row groups as have so many, the smallest first."""
    rows = chunk.rows[places]
    hashes = _hashes(chunk, rows)
    chosen: list[int] = []
    for group in sorted(texts.groups(chunk.chunk), key=lambda one: (one.dropped != dropped, one.bytes)):
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
    document = Document(chunk.chunk.source, chunk.chunk.number, row)
    found = texts.dropped_text(document) if reason else texts.kept_text(document)
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

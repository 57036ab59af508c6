"""How long documents are: in bytes, dropped and kept, and in tokens. Bins are a quarter of an octave wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.formats.token_shard import TokenShard
from gristmill.report.evidence.folder import Chunk, RunFolder
from gristmill.report.evidence.judged import JudgedChunk

BYTES = "bytes"  # the signal of filters/sequence.py
_BINS_AN_OCTAVE = 4
_MOST_SHARDS = 64

Lengths = npt.NDArray[np.int64]


def lengths(run: RunFolder, chunks: Sequence[JudgedChunk]) -> dict[str, Any]:
    """`bytes`: of the texts as sift left them; `tokens`: of the documents as they were encoded."""
    of_bytes = [(np.asarray(chunk.signals[BYTES]), chunk.kept) for chunk in chunks]
    return {
        "bytes": _binned(
            {
                "kept": _joined([values[kept] for values, kept in of_bytes]),
                "dropped": _joined([values[~kept] for values, kept in of_bytes]),
            }
        ),
        "tokens": _binned({"tokens": _joined([_of_shard(run, chunk) for chunk in _shards(run, chunks)])}),
    }


def _shards(run: RunFolder, chunks: Sequence[JudgedChunk]) -> list[Chunk]:
    """The chunks looked at; where nothing was judged, some of what was encoded."""
    if chunks:
        return [chunk.chunk for chunk in chunks]
    found = [
        Chunk(source, int(path.stem))
        for source in run.sources
        for path in sorted((run.output / "tokenize" / source).glob("*.arrow"))
    ]
    return found[:: max(1, len(found) // _MOST_SHARDS)]


def _of_shard(run: RunFolder, chunk: Chunk) -> Lengths:
    path = run.output / "tokenize" / chunk.source / f"{chunk.stem}.arrow"
    return TokenShard.open(path).lengths if path.exists() else np.zeros(0, np.int64)


def _joined(parts: list[Lengths]) -> Lengths:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _binned(kinds: dict[str, Lengths]) -> dict[str, Any] | None:
    """Edges, counts of each kind between them, and of each kind the sum and some quantiles."""
    together = np.concatenate(list(kinds.values()))
    if not len(together):
        return None
    places = {kind: np.floor(np.log2(np.maximum(values, 1)) * _BINS_AN_OCTAVE) for kind, values in kinds.items()}
    found = np.concatenate(list(places.values()))
    first, last = int(found.min()), int(found.max())
    return {
        "edges": [round(2.0 ** (place / _BINS_AN_OCTAVE), 2) for place in range(first, last + 2)],
        "kinds": {
            kind: {
                "counts": np.bincount((place - first).astype(np.int64), minlength=last - first + 1).tolist(),
                "documents": len(kinds[kind]),
                "sum": int(kinds[kind].sum()),
                "quantiles": _quantiles(kinds[kind]),
            }
            for kind, place in places.items()
        },
    }


def _quantiles(values: Lengths) -> list[int]:
    """5 %, median, 95 %, and the most."""
    if not len(values):
        return []
    return [int(value) for value in (*np.quantile(values, [0.05, 0.5, 0.95], method="lower"), values.max())]

"""The packed rows: how full they are, how many documents share one, and a picture of some, stage by stage."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from gristmill.finished import pack_folder
from gristmill.formats.packed_rows import PackedRows
from gristmill.formats.packed_stages import read_stages
from gristmill.report.evidence.folder import RunFolder

_MOST_STAGES = 8
_PICTURED = 24
_LOOKED_AT = 500  # rows whose documents are counted, at even distances


def packing(run: RunFolder) -> dict[str, Any] | None:
    """What all stages have in common, and each of them; None where nothing was packed."""
    entries = run.ledger.of("pack")
    if not entries:
        return None
    stages: list[str | None] = [*read_stages(run.output / "pack")] or [None]
    opened = [(stage, PackedRows.open(pack_folder(run.output, stage))) for stage in stages]
    layout = opened[0][1].manifest.layout
    return {
        "strategy": layout.strategy,
        "sequence_length": layout.sequence_length,
        "vocabulary": layout.vocab_size,
        "sources": list(layout.sources),
        "rows": sum(len(rows) for _, rows in opened),
        "tokens": sum(rows.manifest.tokens for _, rows in opened),
        "padding": sum(entry.details.get("padding_tokens", 0) for entry in entries),
        "cropped": sum(entry.gone.get("cropped", 0) for entry in entries),
        "stages": [_stage(stage or "", rows) for stage, rows in opened[:_MOST_STAGES] if len(rows)],
    }


def _stage(name: str, rows: PackedRows) -> dict[str, Any]:
    looked_at = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _LOOKED_AT)).astype(np.int64))
    documents = np.diff(rows.take(looked_at).offsets)
    pictured = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _PICTURED)).astype(np.int64))
    return {
        "name": name,
        "rows": len(rows),
        "looked_at": len(looked_at),
        "documents": np.bincount(documents).tolist(),  # rows by how many documents are in them
        "picture": [_picture(rows, row) for row in pictured.tolist()],
    }


def _picture(rows: PackedRows, row: int) -> dict[str, Any]:
    """One row: where each part begins and ends, of which source it is, and whether it goes on from another row."""
    parts = rows.segments(row)
    bounds = [*parts.start.tolist(), rows.length(row)]
    columns = zip(pairwise(bounds), parts.source.tolist(), parts.document.tolist(), parts.token.tolist(), strict=True)
    return {
        "row": row,
        "parts": [[start, stop, source, document, token] for (start, stop), source, document, token in columns],
    }

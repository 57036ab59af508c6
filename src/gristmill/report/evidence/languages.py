"""Which languages the texts are in, where the recipe has the language filter: rows read and rows kept, by label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc

from gristmill.report.evidence.judged import LABELS, JudgedChunk

MOST = 12


def languages(chunks: Sequence[JudgedChunk]) -> list[dict[str, Any]]:
    """The most frequent labels in the chunks looked at, the others as one; nothing where no filter names languages."""
    [label] = LABELS
    read: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for chunk in chunks:
        if label in chunk.signals:
            labels = pc.fill_null(chunk.signals[label], "none")
            for counts, column in ((read, labels), (kept, labels.filter(pc.is_null(chunk.verdicts)))):
                for item in pc.value_counts(column).to_pylist():
                    counts[item["values"]] += item["counts"]
    ranked = sorted(read, key=lambda name: (-read[name], name))
    rows = [{"label": name, "read": read[name], "kept": kept[name]} for name in ranked[:MOST]]
    if rest := ranked[MOST:]:
        rows.append(
            {
                "label": f"{len(rest)} others",
                "read": sum(read[name] for name in rest),
                "kept": sum(kept[name] for name in rest),
            }
        )
    return rows

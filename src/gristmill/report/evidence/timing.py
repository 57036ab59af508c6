"""Where the time went: by stage, from the records of all tasks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from gristmill.engine import record as records
from gristmill.engine.record import Record

ROUTE = ("sift", "judge", "dedup", "texts", "tokenizer", "tokenize", "mix", "pack")


def timing(output: Path) -> list[dict[str, Any]]:
    """One for each stage, in the order of the route; of deduplication, one for each of its steps."""
    by_stage: dict[str, list[Record]] = {}
    for stage in ROUTE:
        for path in sorted((output / stage).rglob("*.json")):
            record = records.read(path.parent, path.stem)
            if record is not None:
                name = f"{stage} {path.relative_to(output).parts[1]}" if stage == "dedup" else stage
                by_stage.setdefault(name, []).append(record)
    rows = [_row(name, found) for name, found in by_stage.items()]
    return sorted(rows, key=lambda row: float(row["begun"])) if rows else []


def _row(name: str, found: list[Record]) -> dict[str, Any]:
    spans = [(ended - record.seconds, ended) for record in found for ended in [_ended(record)]]
    return {
        "stage": name,
        "tasks": len(found),
        "begun": min(start for start, _ in spans),
        "seconds": round(_covered(spans), 3),
        "task_seconds": round(sum(record.seconds for record in found), 3),
        "input_bytes": sum(record.input_bytes for record in found),
        "written_bytes": sum(file.bytes for record in found for file in record.files),
        "peak_memory_bytes": max(record.peak_memory_bytes for record in found),
    }


def _ended(record: Record) -> float:
    return datetime.fromisoformat(record.finished).timestamp()


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """The seconds in which at least one task was at work: a break between two runs does not count."""
    covered, until = 0.0, float("-inf")
    for start, stop in sorted(spans):
        covered += max(0.0, stop - max(start, until))
        until = max(until, stop)
    return covered

"""A source's token shards, as the stages after tokenize need them: where they lie and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gristmill.engine.record import Record
from gristmill.engine.step import Step


@dataclass(frozen=True)
class SourceShards:
    """The shards of one source, in order. A document's ordinal counts over them from 0."""

    name: str
    paths: tuple[str, ...]
    checksums: tuple[str, ...]
    docs: tuple[int, ...]


def of_step(name: str, step: Step, records: list[Record], output: Path) -> SourceShards:
    """What a source's finished tokenize step left."""
    written = [record.file(f"{task.name}.arrow") for task, record in zip(step.tasks, records, strict=True)]
    return SourceShards(
        name,
        tuple(str(output / step.name / file.path) for file in written),
        tuple(file.checksum for file in written),
        tuple(int(record.counts["docs"]) for record in records),
    )

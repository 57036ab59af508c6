"""The route measured on this machine: seconds, MB/s, documents/s, tokens/s and memory of every stage.

The text is the demo's: made up, English and Vietnamese. Good for comparing machines and versions, not for claims about
other text; bench/ in the repository measures us beside others on real text.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gristmill.demo import write_corpus
from gristmill.drive import run
from gristmill.engine.local import Job
from gristmill.engine.record import Record
from gristmill.quantities import show_bytes, show_count

_DOCUMENT_BYTES = 2500  # of the demo's documents, on the average


@dataclass
class StageTime:
    """What one stage took."""

    seconds: float = 0.0
    tasks: int = 0
    input_bytes: int = 0
    docs: int = 0
    tokens: int = 0
    peak_memory_bytes: int = 0


class StageTimes:
    """An observer that adds up what each stage takes."""

    def __init__(self) -> None:
        self.stages: dict[str, StageTime] = {}

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """The clock of a stage runs."""
        name = jobs[0].step.name.split("/")[0]
        self._current = self.stages.setdefault(name, StageTime())
        self._begun = time.perf_counter()

    def finished(self, job: Job, record: Record) -> None:
        """One task."""
        stage = self._current
        stage.tasks += 1
        stage.input_bytes += job.task.bytes
        stage.docs += int(record.counts.get("docs", record.counts.get("rows", 0)))
        stage.tokens += int(record.counts.get("tokens", 0))
        stage.peak_memory_bytes = max(stage.peak_memory_bytes, record.peak_memory_bytes)

    def ended(self) -> None:
        """The clock stands."""
        self._current.seconds += time.perf_counter() - self._begun

    def notice(self, text: str) -> None:
        """Not shown."""


def print_bench(console: Console, text_bytes: int, workers: int | str) -> None:
    """Write a corpus of about that size, run the route over it, twice because the first run compiles kernels, and print
    a table."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        console.print(f"Writing about {show_bytes(text_bytes)} of made-up text ...")
        write_corpus(folder / "corpus", documents=max(400, text_bytes // _DOCUMENT_BYTES))
        for name in ("compile", "measure"):
            console.print(f"Running the route: {name} ...")
            times, begun = StageTimes(), time.perf_counter()
            run(_recipe(folder, name, workers), times)
        console.print(_table(times, time.perf_counter() - begun))


def _recipe(folder: Path, name: str, workers: int | str) -> dict[str, Any]:
    return {
        "sources": [
            {"name": source, "path": str(folder / "corpus" / f"{source}*"), "max_unreadable_ratio": 0.05}
            for source in ("web-en", "web-vi", "encyclopedia")
        ],
        "filters": [
            {"length": {"min_characters": 100}},
            {"language": {"keep": ["en", "vi"]}},
            "gopher_repetition",
            "gopher_quality",
            "spam",
        ],
        "dedup": ["exact", "minhash"],
        "tokenizer": {"train": {"vocab_size": 8000, "sample": "5MB"}},
        "pack": {"sequence_length": 2048},
        "output": {"path": str(folder / name), "chunk": "8MB"},
        "engine": {"workers": workers},
    }


def _table(times: StageTimes, seconds: float) -> Table:
    table = Table(title=f"The route on this machine: {seconds:.1f} s from start to end", title_justify="left")
    table.add_column("stage")
    for heading in ("seconds", "tasks", "MB/s", "documents/s", "tokens/s", "peak a worker"):
        table.add_column(heading, justify="right")
    for name, stage in times.stages.items():
        rates = [amount / max(stage.seconds, 1e-9) for amount in (stage.docs, stage.tokens)]
        table.add_row(
            name,
            f"{stage.seconds:.2f}",
            str(stage.tasks),
            f"{stage.input_bytes / 1e6 / max(stage.seconds, 1e-9):,.1f}",
            *(show_count(rate) if rate else "" for rate in rates),
            show_bytes(stage.peak_memory_bytes),
        )
    return table

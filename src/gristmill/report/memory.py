"""What memory a run takes, stage by stage: this process and all its children, looked at ten times a second.

Memory that processes share is counted once (PSS) where the system tells, as Linux does; elsewhere each counts it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil
from rich.console import Console
from rich.table import Table

from gristmill.engine.local import Job
from gristmill.report.progress import ProgressObserver

_LOOK_SECONDS = 0.1
_MB = 1 << 20


@dataclass
class StageMemory:
    """One stage's memory: at its end, and the most."""

    name: str
    current_bytes: int
    peak_bytes: int


class MemoryWatch:
    """Looks on while it is entered. `stages` are in the order in which they began; the first is called `start`."""

    def __init__(self) -> None:
        self.stages: list[StageMemory] = []
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look_on, name="memory", daemon=True)

    def __enter__(self) -> MemoryWatch:
        self.begin("start")
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def begin(self, name: str) -> None:
        """A stage begins, and the one before it ends. A stage that goes on is not begun twice."""
        self._look()
        with self._lock:
            if not self.stages or self.stages[-1].name != name:
                self.stages.append(StageMemory(name, 0, 0))
        self._look()

    def _look_on(self) -> None:
        while not self._done.wait(_LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        held = tree_bytes()
        with self._lock:
            if self.stages:
                stage = self.stages[-1]
                stage.current_bytes = held
                stage.peak_bytes = max(stage.peak_bytes, held)


def tree_bytes() -> int:
    """What this process and its children hold."""
    this = psutil.Process()
    return sum(_held(process) for process in [this, *this.children(recursive=True)])


def _held(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        memory = process.memory_full_info()
        return int(getattr(memory, "pss", 0) or memory.rss)
    return 0


class WatchedProgress(ProgressObserver):
    """Progress that tells a watch which stage has begun."""

    def __init__(self, console: Console, watch: MemoryWatch) -> None:
        super().__init__(console)
        self._watch = watch

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """Names the stage to both."""
        self._watch.begin(jobs[0].step.name.split("/")[0])
        super().started(jobs, tasks_done)


def print_memory(stages: Sequence[StageMemory], console: Console) -> None:
    """A table of the stages, and the summary."""
    table = Table(title="Memory, all processes", title_justify="left")
    table.add_column("stage")
    for heading in ("current MB", "peak MB"):
        table.add_column(heading, justify="right")
    for stage in stages:
        table.add_row(stage.name, f"{stage.current_bytes / _MB:,.0f}", f"{stage.peak_bytes / _MB:,.0f}")
    console.print(table)
    start, final = stages[0].current_bytes, stages[-1].current_bytes
    peak = max(stage.peak_bytes for stage in stages)
    console.print(
        f"Start {start / _MB:,.0f} MB, peak {peak / _MB:,.0f} MB, final {final / _MB:,.0f} MB, "
        f"peak increase {(peak - start) / _MB:,.0f} MB",
        highlight=False,
        soft_wrap=True,
    )

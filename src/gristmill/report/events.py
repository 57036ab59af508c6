"""What happens in a run, as lines of JSON for machines and for later; and several observers as one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gristmill.engine.local import Job, Observer, main_reason
from gristmill.engine.record import Record


class EventLog:
    """Appends an event a line: started, finished, ended, notice, each with its time."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """Which tasks are about to run, and why."""
        steps = list(dict.fromkeys(job.step.name for job in jobs))
        self._write("started", steps=steps, tasks=len(jobs), tasks_done=tasks_done, why=main_reason(jobs))

    def finished(self, job: Job, record: Record) -> None:
        """One task: what it read, how long it took, how much memory."""
        self._write(
            "finished",
            step=job.step.name,
            task=job.task.name,
            seconds=record.seconds,
            input_bytes=record.input_bytes,
            peak_memory_bytes=record.peak_memory_bytes,
        )

    def ended(self) -> None:
        """The tasks of the last `started`."""
        self._write("ended")

    def notice(self, text: str) -> None:
        """What people should know."""
        self._write("notice", text=text)

    def _write(self, event: str, **details: Any) -> None:
        time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"time": time, "event": event, **details}, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Observers:
    """Several observers as one."""

    all: Sequence[Observer]

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """To each."""
        for one in self.all:
            one.started(jobs, tasks_done)

    def finished(self, job: Job, record: Record) -> None:
        """To each."""
        for one in self.all:
            one.finished(job, record)

    def ended(self) -> None:
        """To each."""
        for one in self.all:
            one.ended()

    def notice(self, text: str) -> None:
        """To each."""
        for one in self.all:
            one.notice(text)

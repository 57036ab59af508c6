"""What happens in a run, as lines of JSON for machines and for later; and several observers as one.

Each line is an object with `time` (ISO, UTC) and `event`:

    started    steps, tasks, tasks_done (by earlier runs), bytes, why         a group of tasks begins
    finished   step, task, seconds, input_bytes, peak_memory_bytes, counts (documents or rows, tokens), dropped (by
               reason), and of its group so far: tasks_ended, tasks, done_bytes, total_bytes, seconds_left
    ended      step, seconds, dropped (by reason, of the run so far)          all tasks of that group have ended
    notice     text                                                           what people should know
    done       output, report, ledger (stage, unit, entered, left, gone)      the last line of a run that ended well
    failed     error, message                                                 the last line of one that did not
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TextIO

from gristmill.engine.ledger import Ledger, total
from gristmill.engine.local import Job, Observer, main_reason
from gristmill.engine.record import Record
from gristmill.errors import GristmillError
from gristmill.report.tally import Tally, counts_of, drops_of


class EventLog:
    """Writes an event a line."""

    def __init__(self, write: Callable[[str], None], tally: Tally) -> None:
        """`tally` is counted by somebody else, who is told first."""
        self._write_line = write
        self._tally = tally

    @staticmethod
    def to_file(path: Path, tally: Tally) -> EventLog:
        """Appends to a file, which is whole after each event."""
        path.parent.mkdir(parents=True, exist_ok=True)

        def append(line: str) -> None:
            with open(path, "a", encoding="utf-8") as file:
                file.write(line)

        return EventLog(append, tally)

    @staticmethod
    def to_stream(stream: TextIO, tally: Tally) -> EventLog:
        """Writes to a stream, such as standard output."""

        def write(line: str) -> None:
            stream.write(line)
            stream.flush()

        return EventLog(write, tally)

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """Which tasks are about to run, and why."""
        steps = list(dict.fromkeys(job.step.name for job in jobs))
        total_bytes = sum(job.task.bytes for job in jobs)
        why = main_reason(jobs)
        self._write("started", steps=steps, tasks=len(jobs), tasks_done=tasks_done, bytes=total_bytes, why=why)

    def finished(self, job: Job, record: Record) -> None:
        """One task: what it read, how long it took, how much memory, what it counted."""
        stage = self._tally.current
        self._write(
            "finished",
            step=job.step.name,
            task=job.task.name,
            seconds=record.seconds,
            input_bytes=record.input_bytes,
            peak_memory_bytes=record.peak_memory_bytes,
            counts=counts_of(record),
            dropped=drops_of(record),
            tasks_ended=stage.tasks_ended,
            tasks=stage.tasks,
            done_bytes=stage.done_bytes,
            total_bytes=stage.total_bytes,
            seconds_left=round(stage.seconds_left, 1),
        )

    def ended(self) -> None:
        """The tasks of the last `started`."""
        stage = self._tally.current
        self._write("ended", step=stage.name, seconds=round(stage.seconds, 3), dropped=dict(self._tally.dropped))

    def notice(self, text: str) -> None:
        """What people should know."""
        self._write("notice", text=text)

    def done(self, output: Path, report: Path | None, ledger: Ledger) -> None:
        """The run's end: the ledger, all sources together."""
        books = []
        for stage, unit in dict.fromkeys((entry.stage, entry.unit) for entry in ledger.entries):
            entries = [entry for entry in ledger.of(stage) if entry.unit == unit]
            # Several deduplicators make several entries: the first one's documents enter, the last one's leave.
            entered = sum({entry.source: entry.entered for entry in reversed(entries)}.values())
            left = sum({entry.source: entry.left for entry in entries}.values())
            gone = {reason: count for reason, count in total(entry.gone for entry in entries).items() if count}
            books.append({"stage": stage, "unit": unit, "entered": entered, "left": left, "gone": gone})
        self._write("done", output=str(output), report=None if report is None else str(report), ledger=books)

    def failed(self, error: GristmillError) -> None:
        """The run's end, where it has another."""
        self._write("failed", error=type(error).__name__, message=str(error))

    def _write(self, event: str, **details: Any) -> None:
        time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        self._write_line(json.dumps({"time": time, "event": event, **details}, ensure_ascii=False) + "\n")


class Observers:
    """Several observers as one."""

    def __init__(self, all_: Sequence[Observer]) -> None:
        self.all = all_

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

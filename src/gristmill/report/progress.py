"""Progress of a run: bars on a terminal, plain lines elsewhere. An engine.local.Observer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from gristmill.engine.local import Job, main_reason
from gristmill.engine.record import Record
from gristmill.quantities import show_bytes, show_count, show_seconds

_PLAIN_LINE_SECONDS = 10.0
_COUNTED = {"documents": "docs", "rows": "rows", "tokens": "tokens"}  # as people read them: as records name them


class _Speed(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{show_bytes(task.completed / max(task.elapsed or 0.0, 1e-9))}/s", style="progress.data.speed")


def _name_of(jobs: Sequence[Job]) -> str:
    """The stage; of deduplication, which takes several steps, the step too."""
    stage, *rest = jobs[0].step.name.split("/")
    return f"{stage} {rest[0]}" if stage == "dedup" and rest else stage


class ProgressObserver:
    """Shows each group of tasks as it runs: MB/s, documents/s, rows/s, tokens/s, memory, time left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None
        self._begin()

    def _begin(self) -> None:
        self._started = time.perf_counter()
        self._last_line = self._started
        self._total_bytes = self._done_bytes = self._tasks = self._tasks_ended = 0
        self._peak_bytes = 0
        self._counted: Counter[str] = Counter()

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """Names the stage, says why it runs, and opens a bar on a terminal."""
        self._begin()
        self._stage = _name_of(jobs)
        self._tasks = len(jobs)
        self._total_bytes = sum(job.task.bytes for job in jobs)
        already = f", {tasks_done} done already" if tasks_done else ""
        why = main_reason(jobs)
        self._console.print(
            f"[bold]{self._stage}[/bold]: {len(jobs)} tasks, {show_bytes(self._total_bytes)}{already}"
            + (f" [dim]({why})[/dim]" if why != "not done yet" else ""),
            highlight=False,
        )
        if self._console.is_terminal:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[tasks]}"),
                _Speed(),
                TextColumn("{task.fields[counted]}"),
                TextColumn("{task.fields[memory]}"),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._bar.start()
            tasks = f"0/{self._tasks}"
            self._bar.add_task(self._stage, total=max(self._total_bytes, 1), tasks=tasks, counted="", memory="")

    def finished(self, job: Job, record: Record) -> None:
        """Moves the bar on; where there is no terminal, prints a line now and then."""
        self._tasks_ended += 1
        self._done_bytes += job.task.bytes
        self._peak_bytes = max(self._peak_bytes, record.peak_memory_bytes)
        self._counted.update(_counts(record))
        if self._bar is not None:
            bar_task = self._bar.task_ids[0]
            self._bar.update(
                bar_task,
                completed=self._done_bytes,
                tasks=f"{self._tasks_ended}/{self._tasks}",
                counted=self._rates(),
                memory=f"{show_bytes(self._peak_bytes)} a worker",
            )
        elif time.perf_counter() - self._last_line > _PLAIN_LINE_SECONDS:
            self._last_line = time.perf_counter()
            self._console.print(
                f"  {self._stage}: {self._tasks_ended}/{self._tasks} tasks, {self._speed()}, "
                f"at most {show_bytes(self._peak_bytes)} a worker, {self._time_left()} left",
                highlight=False,
            )

    def ended(self) -> None:
        """Closes the bar and sums up."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        seconds = time.perf_counter() - self._started
        self._console.print(
            f"  {self._tasks_ended} of {show_count(self._tasks)} tasks in {show_seconds(seconds)}, {self._speed()}, "
            f"at most {show_bytes(self._peak_bytes)} a worker",
            highlight=False,
        )

    def notice(self, text: str) -> None:
        """Prints the line."""
        self._console.print(f"[yellow]note[/yellow]: {text}", highlight=False)

    def _speed(self) -> str:
        seconds = max(time.perf_counter() - self._started, 1e-9)
        return ", ".join(filter(None, [f"{show_bytes(self._done_bytes / seconds)}/s", self._rates()]))

    def _rates(self) -> str:
        """What records have counts of, a second."""
        seconds = max(time.perf_counter() - self._started, 1e-9)
        return ", ".join(f"{show_count(count / seconds)} {name}/s" for name, count in self._counted.items() if count)

    def _time_left(self) -> str:
        seconds = time.perf_counter() - self._started
        return show_seconds(seconds / max(self._done_bytes, 1) * (self._total_bytes - self._done_bytes))


def _counts(record: Record) -> dict[str, int]:
    """How many documents, or rows where there are none, and tokens a task's record speaks of."""
    found = {name: record.counts.get(key) for name, key in _COUNTED.items()}
    counts = {name: count for name, count in found.items() if isinstance(count, int)}
    if "documents" in counts:
        counts.pop("rows", None)
    return counts

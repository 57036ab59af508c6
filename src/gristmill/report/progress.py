"""Progress of a run: bars on a terminal, plain lines elsewhere. An engine.local.Observer.

sift ━━━━━━━━━━━━━━╸━━━━━━━━━ 37/64 · 54.1 MB/s · 21.3k documents/s · at most 612 MB a worker · 0:00:31
     dropped so far: gopher_repetition.top_4_gram 1,204, length.min_characters 871, spam.phrase 79, and 9 more: 310
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from gristmill.engine.local import Job, main_reason
from gristmill.engine.record import Record
from gristmill.quantities import show_bytes, show_count, show_seconds
from gristmill.report.tally import StageTally, Tally, name_of

_PLAIN_LINE_SECONDS = 10.0
_REASONS_SHOWN = 4


class _Board(Progress):
    """A bar, and under it what was dropped so far."""

    dropped = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, then the line."""
        yield self.make_tasks_table(self.tasks)
        if self.dropped:
            yield Text(f"  {self.dropped}", style="dim", overflow="ellipsis", no_wrap=True)


class ProgressObserver:
    """Shows each group of tasks as it runs: MB/s, documents/s, rows/s, tokens/s, drops by reason, memory, time left."""

    def __init__(self, console: Console, tally: Tally | None = None) -> None:
        """`tally`, if one is given, is counted by somebody else."""
        self._console = console
        self._tally = tally or Tally()
        self._counts = tally is None
        self._board: _Board | None = None
        self._last_line = 0.0
        self._dropped_before = 0

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """Names the stage, says why it runs, and opens a bar on a terminal."""
        if self._counts:
            self._tally.started(jobs, tasks_done)
        total_bytes = sum(job.task.bytes for job in jobs)
        self._last_line = time.perf_counter()
        self._dropped_before = self._tally.dropped.total()
        already = f", {tasks_done} done already" if tasks_done else ""
        why = main_reason(jobs)
        self._console.print(
            f"[bold]{name_of(jobs)}[/bold]: {len(jobs)} tasks, {show_bytes(total_bytes)}{already}"
            + (f" [dim]({why})[/dim]" if why != "not done yet" else ""),
            highlight=False,
        )
        if self._console.is_terminal:
            self._board = _Board(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[state]}"),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._board.start()
            self._board.add_task(name_of(jobs), total=max(total_bytes, 1), state=f"0/{len(jobs)}")

    def finished(self, job: Job, record: Record) -> None:
        """Moves the bar on; where there is no terminal, prints a line now and then."""
        if self._counts:
            self._tally.finished(job, record)
        stage = self._tally.current
        state = f"{stage.tasks_ended}/{stage.tasks}"
        if self._board is not None:
            self._board.dropped = dropped_line(self._tally.dropped)
            self._board.update(
                self._board.task_ids[0],
                completed=stage.done_bytes,
                state=f"{state} · {speed(stage)} · {_memory(stage)}",
            )
        elif time.perf_counter() - self._last_line > _PLAIN_LINE_SECONDS:
            self._last_line = time.perf_counter()
            left = show_seconds(stage.seconds_left)
            self._print(f"{stage.name}: {state} tasks, {speed(stage)}, {_memory(stage)}, {left} left")

    def ended(self) -> None:
        """Closes the bar and sums up."""
        if self._board is not None:
            self._board.stop()
            self._board = None
        stage = self._tally.current
        took = show_seconds(stage.seconds)
        tasks = f"{stage.tasks_ended} of {show_count(stage.tasks)} tasks"
        self._print(f"{tasks} in {took}, {speed(stage)}, {_memory(stage)}")
        if self._tally.dropped.total() > self._dropped_before:
            self._print(dropped_line(self._tally.dropped))

    def notice(self, text: str) -> None:
        """Prints the line."""
        self._console.print(f"[yellow]note[/yellow]: {text}", highlight=False)

    def _print(self, line: str) -> None:
        self._console.print(f"  {line}", highlight=False, soft_wrap=True)


def speed(stage: StageTally) -> str:
    """Bytes a second, and what records have counts of."""
    rates = [f"{show_count(rate)} {name}/s" for name, rate in stage.rates.items()]
    return ", ".join([f"{show_bytes(stage.done_bytes / stage.seconds)}/s", *rates])


def dropped_line(dropped: Counter[str]) -> str:
    """The most frequent reasons, and the others as one."""
    if not dropped:
        return ""
    ranked = dropped.most_common()
    shown = [f"{reason} {count:,}" for reason, count in ranked[:_REASONS_SHOWN]]
    if rest := ranked[_REASONS_SHOWN:]:
        shown.append(f"and {len(rest)} more: {sum(count for _, count in rest):,}")
    return f"dropped so far: {', '.join(shown)}"


def _memory(stage: StageTally) -> str:
    return f"at most {show_bytes(stage.peak_memory_bytes)} a worker"

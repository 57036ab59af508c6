"""Everybody who watches one run: progress for people, events for machines, numbers for Prometheus."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from gristmill.drive import Result
from gristmill.engine.local import Observer
from gristmill.errors import GristmillError
from gristmill.report.events import EventLog, Observers
from gristmill.report.progress import ProgressObserver
from gristmill.report.tally import Tally

EVENTS = "events.jsonl"


class Watch(Observers):
    """The observer of a run; its logs are told of the end, too."""

    def __init__(self, console: Console, logging_dir: Path | None, as_json: bool) -> None:
        self.tally = Tally()
        self._logs: list[EventLog] = []
        if logging_dir is not None:
            self._logs.append(EventLog.to_file(logging_dir / EVENTS, self.tally))
        if as_json:
            self._logs.append(EventLog.to_stream(sys.stdout, self.tally))
        watchers: list[Observer] = [self.tally, ProgressObserver(console, self.tally), *self._logs]
        super().__init__(watchers)

    def done(self, result: Result, report: Path | None) -> None:
        """The run came to its end."""
        for log in self._logs:
            log.done(result.path, report, result.ledger)

    def failed(self, error: GristmillError) -> None:
        """It did not."""
        for log in self._logs:
            log.failed(error)


@contextmanager
def watching(
    console: Console, logging_dir: Path | None = None, as_json: bool = False, metrics_port: int | None = None
) -> Iterator[Watch]:
    """A watch, with its metrics served meanwhile if a port is given."""
    watch = Watch(console, logging_dir, as_json)
    try:
        if metrics_port is None:
            yield watch
        else:
            from gristmill.report.metrics import MetricsServer

            with MetricsServer(metrics_port, watch.tally) as server:
                watch.notice(f"metrics at {server.address}")
                yield watch
    except GristmillError as error:
        watch.failed(error)
        raise

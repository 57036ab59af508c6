"""A run's numbers for Prometheus, on this machine's loopback: http://127.0.0.1:PORT/metrics.

What enters: the tally of a run. What leaves: Prometheus' text format (0.0.4), made anew for each request by a thread.
Only the loopback is listened on; nothing can be asked of it but that page.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from gristmill.errors import TaskError
from gristmill.report.tally import StageTally, Tally

_HOST = "127.0.0.1"
Labels = tuple[tuple[str, str], ...]
Values = dict[Labels, float]
_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricsServer:
    """Serves while it is entered. Port 0 takes any that is free; `address` says which."""

    def __init__(self, port: int, tally: Tally) -> None:
        """Raises TaskError where the port is taken."""
        try:
            self._server = ThreadingHTTPServer((_HOST, port), _handler_of(tally))
        except (OSError, OverflowError) as error:
            raise TaskError(
                f"expected a free port for metrics, found {port} to be none: {error}\n"
                "  Name another with --metrics-port."
            ) from error
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def address(self) -> str:
        """Where the numbers are."""
        return f"http://{_HOST}:{self._server.server_address[1]}/metrics"

    def __enter__(self) -> MetricsServer:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler_of(tally: Tally) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """The one page."""
            found = self.path.partition("?")[0] == "/metrics"
            body = exposition(tally).encode() if found else b"Look at /metrics.\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", _TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Says nothing: standard error belongs to the run."""

    return Handler


def exposition(tally: Tally) -> str:
    """All numbers as text."""
    return "\n".join([*_lines(tally), ""])


def _lines(tally: Tally) -> Iterator[str]:
    stages = list(tally.stages)
    counted: dict[str, Counter[str]] = {}
    for stage in stages:
        counted.setdefault(stage.name, Counter()).update(dict(stage.counted))
    yield from _metric("run_seconds", "gauge", "Seconds since the run began.", {(): time.perf_counter() - tally.begun})
    yield from _metric(
        "tasks", "gauge", "Tasks of a stage that have to run.", _by_stage(stages, lambda stage: stage.tasks)
    )
    yield from _metric(
        "tasks_finished_total", "counter", "Tasks that are done.", _by_stage(stages, lambda stage: stage.tasks_ended)
    )
    yield from _metric(
        "input_bytes_total", "counter", "Bytes that were read.", _by_stage(stages, lambda stage: stage.done_bytes)
    )
    for name in ("documents", "rows", "tokens"):
        found: Values = {(("stage", of),): float(counts[name]) for of, counts in counted.items() if name in counts}
        yield from _metric(f"{name}_total", "counter", f"{name.capitalize()} that came out of tasks.", found)
    dropped: Values = {(("reason", reason),): float(count) for reason, count in dict(tally.dropped).items()}
    yield from _metric("dropped_documents_total", "counter", "Documents that were dropped.", dropped)
    peaks: Values = {(("stage", stage.name),): float(stage.peak_memory_bytes) for stage in stages}
    yield from _metric("worker_peak_memory_bytes", "gauge", "The most that one worker held.", peaks)
    left: Values = {(("stage", stage.name),): stage.seconds_left for stage in stages[-1:]}
    yield from _metric("stage_seconds_left", "gauge", "Of the stage under way, at its speed so far.", left)


def _by_stage(stages: list[StageTally], value: Callable[[StageTally], int]) -> Values:
    """Groups of tasks of the same name added up."""
    found: Counter[Labels] = Counter()
    for stage in stages:
        found[("stage", stage.name),] += value(stage)
    return {labels: float(count) for labels, count in found.items()}


def _metric(name: str, kind: str, meaning: str, values: Values) -> Iterator[str]:
    if values:
        yield f"# HELP gristmill_{name} {meaning}"
        yield f"# TYPE gristmill_{name} {kind}"
    for labels, value in values.items():
        named = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
        yield f"gristmill_{name}{{{named}}} {value:.15g}" if named else f"gristmill_{name} {value:.15g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

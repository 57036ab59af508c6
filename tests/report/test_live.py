"""What a run says while it is under way: to people, to programs, to Prometheus."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from report_run import recipe, write_texts
from rich.console import Console

import gristmill as gm
from gristmill.engine.local import Job
from gristmill.engine.record import Record
from gristmill.errors import TaskError
from gristmill.report.events import Observers
from gristmill.report.metrics import MetricsServer, exposition
from gristmill.report.tally import StageTally, Tally
from gristmill.report.watch import watching


class Scrape:
    """Asks for the metrics whenever a task is done."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.answers: list[str] = []

    def started(self, jobs: object, tasks_done: int) -> None: ...

    def finished(self, job: Job, record: Record) -> None:
        with urlopen(self.address) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            self.answers.append(answer.read().decode())

    def ended(self) -> None: ...

    def notice(self, text: str) -> None: ...


class Watched:
    """A run that everybody watched."""

    def __init__(self, folder: Path) -> None:
        self.shown = io.StringIO()
        console = Console(file=self.shown, force_terminal=True, width=200)
        with watching(console, logging_dir=folder / "log") as watch, MetricsServer(0, watch.tally) as server:
            self.scrape = Scrape(server.address)
            self.ledger = gm.run(recipe(folder), Observers([watch, self.scrape])).ledger
        self.tally = watch.tally
        self.events = [json.loads(line) for line in (folder / "log/events.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("watched")
    write_texts(folder)
    return Watched(folder)


def gone(watched: Watched, stages: tuple[str, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for stage in stages:
        for entry in watched.ledger.of(stage):
            for reason, count in entry.gone.items():
                if count and entry.unit == "documents":
                    found[reason] = found.get(reason, 0) + count
    return found


def test_drops_are_those_of_the_ledger(watched: Watched) -> None:
    assert dict(watched.tally.dropped) == gone(watched, ("sift", "dedup", "tokenize"))
    assert len(watched.tally.dropped) > 4


def test_a_terminal_shows_them_with_speed_and_memory(watched: Watched) -> None:
    shown = watched.shown.getvalue()
    assert re.search(r"sift.*2 tasks", shown)
    assert re.search(r"dropped so far: [\w.]+ \d+", shown)
    assert "documents/s" in shown and "tokens/s" in shown and re.search(r"at most [\d.]+ [MG]B a worker", shown)


def test_events_follow_the_run(watched: Watched) -> None:
    names = [event["event"] for event in watched.events]
    assert set(names) == {"started", "finished", "ended"}
    assert names[0] == "started" and names[-1] == "ended"
    finished = [event for event in watched.events if event["event"] == "finished"]
    dropped: dict[str, int] = {}
    for event in finished:
        for reason, count in event["dropped"].items():
            dropped[reason] = dropped.get(reason, 0) + count
    assert dropped == dict(watched.tally.dropped) == watched.events[-1]["dropped"]
    for event in finished:
        assert 0 < event["tasks_ended"] <= event["tasks"] and event["seconds_left"] >= 0
    tokens = sum(event["counts"].get("tokens", 0) for event in finished if event["step"].startswith("tokenize/"))
    assert tokens == sum(entry.left for entry in watched.ledger.of("tokenize") if entry.unit == "tokens")


def values(text: str) -> dict[str, float]:
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in text.splitlines() if line[:1] != "#")
    }


def test_metrics_are_the_same_numbers(watched: Watched) -> None:
    last = values(watched.scrape.answers[-1])
    for reason, count in watched.tally.dropped.items():
        assert last[f'gristmill_dropped_documents_total{{reason="{reason}"}}'] == count
    assert last['gristmill_tasks_finished_total{stage="sift"}'] == last['gristmill_tasks{stage="sift"}'] == 2
    assert last['gristmill_tokens_total{stage="pack"}'] == sum(entry.left for entry in watched.ledger.of("pack"))
    assert last['gristmill_worker_peak_memory_bytes{stage="sift"}'] > 10e6


def test_metrics_count_while_the_run_is_under_way(watched: Watched) -> None:
    counts = [values(answer)["gristmill_run_seconds"] for answer in watched.scrape.answers]
    assert counts == sorted(counts) and len(counts) > 8
    first = values(watched.scrape.answers[0])
    assert first['gristmill_tasks_finished_total{stage="sift"}'] == 1


def test_every_metric_says_what_it_is(watched: Watched) -> None:
    lines = watched.scrape.answers[-1].splitlines()
    assert watched.scrape.answers[-1].endswith("\n")
    named = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {re.split(r"[{ ]", line)[0] for line in lines if not line.startswith("#")} == named
    assert all(re.fullmatch(r'gristmill_\w+(\{\w+="[^"\n]*"\})? \d[\d.e+-]*', line) for line in lines if line[0] != "#")


def test_labels_are_escaped() -> None:
    tally = Tally()
    tally.stages.append(StageTally("sift", 1, 10))
    tally.dropped['a "b"\n\\c'] = 1
    assert 'reason="a \\"b\\"\\n\\\\c"} 1' in exposition(tally)


def test_only_metrics_and_only_here() -> None:
    with MetricsServer(0, Tally()) as server:
        assert server.address.startswith("http://127.0.0.1:")
        with pytest.raises(HTTPError, match="404"):
            urlopen(server.address.replace("/metrics", "/../etc/passwd"))
        port = int(server.address.split(":")[2].split("/")[0])
        with pytest.raises(TaskError, match=f"found {port} to be none"):
            MetricsServer(port, Tally())


def ran(folder: Path, *options: str) -> Any:
    file = folder / "recipe.yaml"
    file.write_text(json.dumps(recipe(folder)))
    command = [sys.executable, "-m", "gristmill", "run", str(file), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_for_machines_and_for_nobody(watched: Watched, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = Path(watched.ledger and next(iter(tmp_path_factory.getbasetemp().glob("watched*"))))
    said = ran(folder, "--json", "--metrics-port", "0")
    assert said.returncode == 0, said.stderr
    events = [json.loads(line) for line in said.stdout.splitlines()]
    assert [event["event"] for event in events] == ["notice", "done"]  # all else was done before
    assert re.fullmatch(r"metrics at http://127\.0\.0\.1:\d+/metrics", events[0]["text"])
    done = events[-1]
    assert Path(done["report"]).stat().st_size > 10_000
    sift = next(row for row in done["ledger"] if row["stage"] == "sift")
    assert sift["entered"] - sift["left"] == sum(sift["gone"].values())
    (folder / "corpus/hostile.jsonl").unlink()
    said = ran(folder, "--quiet")
    assert (said.returncode, said.stdout) == (1, "") and "RecipeError" in said.stderr


def test_a_failure_is_the_last_event(tmp_path: Path) -> None:
    write_texts(tmp_path)
    (tmp_path / "corpus/hostile.jsonl").write_text("not JSON\n" * 10)
    said = ran(tmp_path, "--json")
    assert said.returncode == 1 and "SourceError" in said.stderr
    last = json.loads(said.stdout.splitlines()[-1])
    assert last["event"] == "failed" and last["error"] == "SourceError" and "unreadable" in last["message"]


def test_plain_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    shown = io.StringIO()
    write_texts(tmp_path)
    with watching(Console(file=shown, width=200)) as watch:
        gm.run(recipe(tmp_path, filters=[{"length": {"min_characters": 60}}], dedup=[]), watch)
    lines = shown.getvalue().splitlines()
    assert "\x1b" not in shown.getvalue()
    assert re.fullmatch(r"sift: 2 tasks, [\d.]+ kB|sift: 2 tasks, [\d.]+ MB", lines[0])
    summary = r"  2 of 2 tasks in [\dms.]+, .*/s, .*rows/s, at most [\d.]+ [MG]B a worker"
    assert any(re.fullmatch(summary, line) for line in lines)  # others may stand before it on a slow machine
    assert any(line.startswith("  dropped so far: length.min_characters") for line in lines)

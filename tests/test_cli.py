"""The command line as others call it: every promised command is there, helps, and starts soon."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
import typer
from typer.testing import CliRunner

from gristmill.cli import app

PROMISED = ["run", "plan", "report", "inspect", "init", "preprocess", "tokenize", "train-tokenizer", "export", "verify"]


@pytest.mark.parametrize("command", [*PROMISED, "bench", "inspect-dataset"])
def test_a_command_says_what_it_does(command: str) -> None:
    done = CliRunner().invoke(app, [command, "--help"])
    assert done.exit_code == 0
    assert "Usage:" in done.output and len(done.output.splitlines()) > 5


def test_help_is_there_at_once() -> None:
    command = [sys.executable, "-m", "gristmill", "--help"]
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds.append(time.perf_counter() - begin)
    assert all(name in shown for name in PROMISED)
    assert min(seconds) < 0.6  # 0.2 on an idle machine; bench/ is for figures


def test_nothing_heavy_is_loaded_for_help() -> None:
    program = "import sys, gristmill.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert not {"numba", "torch", "datasets", "pyarrow", "numpy", "pydantic"} & {*done.stdout.split()}


def test_bench_measures_every_stage() -> None:
    done = CliRunner().invoke(app, ["bench", "--megabytes", "1", "--workers", "1"])
    assert done.exit_code == 0, done.output
    for stage in ("sift", "judge", "dedup", "tokenize", "mix", "pack"):
        assert stage in done.output


def test_plan_takes_what_run_takes_of_a_recipe() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    run, plan = ({option.name for option in commands[name].params} for name in ("run", "plan"))
    assert {"output", "only", "max_datasets", "limit_docs", "scale", "dedup", "tokenizer", "local_root"} <= plan <= run

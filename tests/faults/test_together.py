"""Two at work on one output, and workers that run out of memory."""

from __future__ import annotations

import json
import subprocess
import sys

import psutil
import pytest
from fault_trials import Interruption, Trial

import gristmill as gm
from gristmill.drive import locked, shared
from gristmill.errors import ResumeError, TaskError
from gristmill.export import export


def test_a_second_run_is_refused_by_message_and_exit_code(trial: Trial) -> None:
    recipe = trial.output.parent / "recipe.yaml"
    recipe.write_text(json.dumps(trial.recipe()))
    second: list[subprocess.CompletedProcess[str]] = []
    command = [sys.executable, "-m", "gristmill", "run", str(recipe)]
    begin_second = Interruption(
        "pack", lambda: second.append(subprocess.run(command, capture_output=True, text=True, check=False))
    )
    gm.run(trial.recipe(), begin_second)
    assert second[0].returncode == 1
    assert f"ResumeError: expected an output folder of its own, found another run at work in it: {trial.output}" in (
        second[0].stderr
    )
    trial.ends_like_the_twin("two runs on one output")


def test_no_run_while_an_export_reads_its_rows(trial: Trial) -> None:
    trial.finish()
    with shared(trial.output), pytest.raises(ResumeError, match="another run at work"):
        gm.run(trial.recipe())
    with locked(trial.output), pytest.raises(ResumeError, match="another run at work"):
        export(trial.output, "parquet", workers=0)
    with shared(trial.output):
        export(trial.output, "parquet", trial.output.parent / "made", workers=0)
    trial.ends_like_the_twin("a run and an export on one output")


@pytest.mark.skipif(sys.platform != "linux", reason="limits another process")
def test_a_worker_out_of_memory_is_named_with_what_to_lower(trial: Trial) -> None:
    """Its address space is limited when a step begins: what it has it keeps, more it does not get."""

    def limit() -> None:
        for child in psutil.Process().children():
            if "spawn_main" in " ".join(child.cmdline()):
                held = child.memory_info().vms
                child.rlimit(psutil.RLIMIT_AS, (held, held))

    with pytest.raises(TaskError) as caught:
        gm.run(trial.recipe(workers=1), Interruption("tokenize/web-en", limit))
    assert "ran out of memory in task 0000" in str(caught.value)
    assert "Lower `engine.workers`, `output.chunk`" in str(caught.value)
    trial.ends_like_the_twin("a worker out of memory")

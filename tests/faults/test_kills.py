"""kill -9 of the parent at the beginning of each step, of workers in each step, and of those that export and report."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from fault_trials import ROUNDS, Trial, Twin

import gristmill as gm
from gristmill.drive import Silent
from gristmill.export import export

STEPS = [
    "sift/web-en", "judge/web-en", "dedup/exact.sorted", "dedup/exact.pairs", "dedup/exact", "dedup/minhash.sorted",
    "dedup/minhash.pairs", "dedup/minhash.candidates", "dedup/minhash.sets", "dedup/minhash", "dedup/bloom",
    "dedup/sentences.spans/web-en", "dedup/sentences.spans", "dedup/sentences/web-en", "dedup/substrings.blocks/web-en",
    "dedup/substrings.blocks", "dedup/substrings.anchors/web-en", "dedup/substrings.anchors",
    "dedup/substrings.windows/web-en", "dedup/substrings.windows", "dedup/substrings/web-en", "tokenizer/training",
    "tokenizer", "tokenize/web-en", "mix", "pack",
]  # fmt: skip
_KILLED = """
import json, os, signal, sys, threading
sys.path[:0] = json.loads(sys.argv[1])
import gristmill as gm
from fault_trials import Interruption

recipe, step, seconds = json.loads(sys.argv[2]), sys.argv[3], float(sys.argv[4])
gm.run(recipe, Interruption(step, lambda: threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_no_step_is_forgotten(twin: Twin) -> None:
    found = {file.parent.relative_to(twin.output).as_posix() for file in twin.output.glob("*/**/*.json")}
    assert {step for step in found if not step.endswith(("/web-vi", "/encyclopedia", "/notes"))} == set(STEPS)


@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("steps", [STEPS[start::6] for start in range(6)], ids=lambda steps: steps[0].split("/")[-1])
def test_the_parent_is_killed_in_one_step_after_another(trial: Trial, steps: list[str], turn: int) -> None:
    """Each of these steps: the run is begun again, and killed again."""
    paths = [str(Path(__file__).parent)]
    for number, step in enumerate(steps):
        seconds = trial.rng.choice([0.0, 0.02, 0.1]) if turn or number else 0.02
        recipe = json.dumps(trial.recipe(workers=trial.rng.choice([0, 1])))
        command = [sys.executable, "-c", _KILLED, json.dumps(paths), recipe, step, str(seconds)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
    trial.ends_like_the_twin("kill -9 of the parent, in one step after another")


@pytest.mark.parametrize("turn", range(ROUNDS))
def test_a_worker_is_killed_in_every_stage(trial: Trial, turn: int) -> None:
    """And again where it was killed before; which steps of deduplication, the turn decides."""
    chosen = {step for number, step in enumerate(STEPS) if number % 3 == turn % 3 or "/" not in step}
    killers: list[threading.Timer] = []

    class Killer(Silent):
        def started(self, jobs: Any, tasks_done: int) -> None:
            if jobs[0].step.name in chosen:
                killers.append(threading.Timer(0.01, _kill_a_worker, (trial,)))
                killers[-1].start()

    watcher = Killer()
    gm.run(trial.recipe(workers=1), watcher)
    for killer in killers:
        killer.join()
    assert sum("a worker was ended" in notice for notice in watcher.notices) > 2
    trial.ends_like_the_twin("kill -9 of a worker, in every stage")


def _kill_a_worker(trial: Trial) -> None:
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # it ended by itself
            if "spawn_main" in " ".join(child.cmdline()):
                child.kill()
                return


@pytest.mark.parametrize("format_name", ["parquet", "megatron"])
def test_an_export_is_killed(trial: Trial, format_name: str) -> None:
    trial.finish()
    undisturbed = export(trial.output, format_name, trial.output.parent / "twin", workers=0)
    made = trial.output.parent / "made"
    code = (
        "import os, signal, sys, threading; from pathlib import Path; from gristmill.export import export\n"
        "threading.Timer(float(sys.argv[3]), os.kill, (os.getpid(), signal.SIGKILL)).start()\n"
        "export(Path(sys.argv[1]), sys.argv[4], Path(sys.argv[2]), workers=0)"
    )
    for seconds in ("0.05", "0.3", "0.6"):
        command = [sys.executable, "-c", code, trial.output, made, seconds, format_name]
        subprocess.run(command, capture_output=True, check=False)
    again = export(trial.output, format_name, made, workers=0)
    assert again.fingerprint == undisturbed.fingerprint
    for file in again.files:
        assert (made / file["path"]).read_bytes() == (undisturbed.folder / file["path"]).read_bytes()
    assert not list(made.parent.glob("made.work*"))
    trial.ends_like_the_twin(f"kill -9 of an export to {format_name}")


def test_a_report_is_killed(trial: Trial) -> None:
    trial.finish()
    for asked in (["report"], ["report", "--html"], ["inspect"], ["verify"]):
        command = [sys.executable, "-m", "gristmill", *asked, trial.output]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(trial.rng.uniform(0.3, 1))
        process.kill()
        process.wait()
    trial.ends_like_the_twin("kill -9 of report, inspect and verify")

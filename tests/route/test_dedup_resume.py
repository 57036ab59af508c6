"""kill -9 during each step of deduplication, then the same run again: the same bytes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from dedup_route import dedup_recipe, run_dedup
from test_dedup_route import digests

DEDUP = [{"exact": {}}, {"minhash": {"confirm": 0.7}}, {"bloom": {"capacity": "1k"}}]
STEPS = [
    "exact.sorted",
    "exact.pairs",
    "exact",
    "minhash.pairs",
    "minhash.candidates",
    "minhash.sets",
    "minhash",
    "bloom",
]
_KILLED = """
import json, os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
from dedup_route import run_dedup
from gristmill.drive import Silent

class Killer(Silent):
    def started(self, jobs, tasks_done):
        if jobs[0].step.name == sys.argv[3]:
            threading.Timer(float(sys.argv[4]), os.kill, (os.getpid(), signal.SIGKILL)).start()

if __name__ == "__main__":
    run_dedup(json.loads(sys.argv[2]), Killer())
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    run_dedup(dedup_recipe(folder, DEDUP))
    return folder


@pytest.mark.parametrize("step", STEPS)
def test_killed_and_run_again(undisturbed: Path, tmp_path: Path, step: str) -> None:
    recipe = dedup_recipe(undisturbed, DEDUP, output={"path": str(tmp_path / "out")}, engine={"workers": 1})
    script = tmp_path / "killed.py"
    script.write_text(_KILLED)
    command = [sys.executable, script, Path(__file__).parent, json.dumps(recipe), f"dedup/{step}", "0.01"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    run_dedup(dedup_recipe(undisturbed, DEDUP, output={"path": str(tmp_path / "out")}))
    assert digests(tmp_path / "out") == digests(undisturbed / "out")

"""kill -9 during each step of deduplication, then the same run again: the same bytes (cuts: test_cut_dedup.py)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dedup_route import dedup_recipe, near_duplicates, run_dedup
from route_inputs import write_jsonl
from test_dedup_route import digests

import gristmill as gm

UNITS: dict[str, dict[str, Any]] = {"exact": {}, "minhash": {"confirm": 0.7}, "bloom": {"capacity": "1k"}}
STEPS = [
    "exact.sorted",
    "exact.pairs",
    "exact",
    "exact.index",
    "minhash.sorted",
    "minhash.pairs",
    "minhash.candidates",
    "minhash.sets",
    "minhash",
    "minhash.index",
    "minhash.index_sets",
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
    """A run that finds what an earlier one has put into its indexes."""
    folder, earlier = tmp_path_factory.mktemp("undisturbed"), tmp_path_factory.mktemp("earlier")
    texts = near_duplicates(240, 1)[:60]
    write_jsonl(earlier / "raw" / "one.jsonl", [*texts[:30], *(f"{text} more" for text in texts[30:])])
    gm.run(dedup_recipe(earlier, dedup_in(folder)))
    ledger = run_dedup(dedup_recipe(folder, dedup_in(folder)))
    assert {"exact.earlier", "minhash.earlier"} <= {kind for entry in ledger.of("dedup") for kind in entry.gone}
    return folder


def dedup_in(folder: Path) -> list[Any]:
    return [{name: {**given, "index": str(folder / f"{name}_index")}} for name, given in UNITS.items()]


@pytest.mark.parametrize("step", STEPS)
def test_killed_and_run_again(undisturbed: Path, tmp_path: Path, step: str) -> None:
    recipe = dedup_recipe(
        undisturbed, dedup_in(undisturbed), output={"path": str(tmp_path / "out")}, engine={"workers": 1}
    )
    script = tmp_path / "killed.py"
    script.write_text(_KILLED)
    command = [sys.executable, script, Path(__file__).parent, json.dumps(recipe), f"dedup/{step}", "0.01"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    run_dedup(dedup_recipe(undisturbed, dedup_in(undisturbed), output={"path": str(tmp_path / "out")}))
    assert digests(tmp_path / "out") == digests(undisturbed / "out")

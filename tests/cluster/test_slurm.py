from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from cluster_runs import MakeRecipe, digests
from typer.testing import CliRunner

import gristmill as gm
from gristmill.cli.app import app
from gristmill.drive import Silent
from gristmill.engine.lease import FILE as LEASE
from gristmill.engine.local import Job
from gristmill.engine.record import Record
from gristmill.errors import RecipeError, ResumeError, TaskError


class Watcher(Silent):
    """Calls something when a step starts, or a task has ended."""

    def __init__(self, at_start: Callable[[str], None] = id, at_end: Callable[[str], None] = id) -> None:  # type: ignore[assignment]
        super().__init__()
        object.__setattr__(self, "at_start", at_start)
        object.__setattr__(self, "at_end", at_end)
        object.__setattr__(self, "begun", {})

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:  # type: ignore[override]
        self.begun[jobs[0].step.name.split("/")[0]] = (len(jobs), tasks_done)  # type: ignore[attr-defined]
        self.at_start(jobs[0].step.name)  # type: ignore[attr-defined]

    def finished(self, job: Job, record: Record) -> None:
        self.at_end(job.step.name)  # type: ignore[attr-defined]


def queue(*options: str) -> list[str]:
    return subprocess.run(
        ["squeue", "-h", "-r", "-o", "%i", *options], check=True, capture_output=True, text=True
    ).stdout.split()


def _is_rank(process: psutil.Process, job: str, output: Path) -> bool:
    command = " ".join(process.info["cmdline"] or ())
    return "python" in command and str(output) in command and command.endswith(f"{job}/executor.pik")


def test_a_rank_ended_in_the_middle_and_the_run_submitted_again_with_other_ranks(
    tmp_path: Path, make_recipe: MakeRecipe, slurm: dict[str, Any], on_one_machine: dict[str, str]
) -> None:
    output = tmp_path / "out"

    def end_a_rank(step: str) -> None:
        """As soon as there is a record: each rank has several tasks, and so some are left."""
        if not step.startswith("sift"):
            return
        while not list(output.glob("sift/*/*.json")):
            time.sleep(0.02)
        ranks = [each for each in psutil.process_iter(["cmdline"]) if _is_rank(each, "sift", output)]
        ranks[0].kill()

    with pytest.raises(TaskError, match="job sift: a rank was ended from outside"):
        gm.run(make_recipe(output, **slurm), Watcher(at_start=end_a_rank))
    assert queue() == []  # those behind it are gone, too
    assert not (output / "ledger.json").exists()
    again = Watcher()
    result = gm.run(make_recipe(output, **{**slurm, "tasks": 3}), again)
    to_run, done = again.begun["sift"]  # type: ignore[attr-defined]
    assert to_run > 0
    assert done > 0
    assert result.ledger.left("web-en", "tokens") > 0
    assert digests(output) == on_one_machine
    assert not (output / LEASE).exists()


def test_begun_on_one_machine_continued_on_slurm_and_back(
    tmp_path: Path, make_recipe: MakeRecipe, slurm: dict[str, Any], on_one_machine: dict[str, str]
) -> None:
    output = tmp_path / "out"

    def stop_at(stage: str) -> Callable[[str], None]:
        def stop(step: str) -> None:
            if step.startswith(stage):
                raise KeyboardInterrupt

        return stop

    with pytest.raises(KeyboardInterrupt):
        gm.run(make_recipe(output), Watcher(at_start=stop_at("dedup")))
    two_cores = {**slurm, "tasks": 1, "cpus_per_task": 2}  # one rank with worker processes
    with pytest.raises(KeyboardInterrupt):  # the shell that waits goes away: Slurm's jobs go on
        gm.run(make_recipe(output, **two_cores), Watcher(at_start=stop_at("dedup/minhash")))
    assert queue()
    with pytest.raises(ResumeError, match="Slurm has its jobs"):
        gm.run(make_recipe(output))
    subprocess.run(["scancel", "-u", "root"], check=True)
    while queue():
        pass
    back = Watcher()
    gm.run(make_recipe(output), back)
    assert "sift" not in back.begun  # type: ignore[attr-defined]
    assert digests(output) == on_one_machine


def test_a_task_that_fails_is_told_where_it_ran_and_what_was_submitted_behind_it_goes(
    tmp_path: Path, make_recipe: MakeRecipe, slurm: dict[str, Any]
) -> None:
    recipe = make_recipe(tmp_path / "out", **slurm)
    recipe["sources"] = [{**source, "text_column": "no such column"} for source in recipe["sources"]]
    with pytest.raises(
        TaskError, match=r"slurm job sift: rank .*expected a column `no such column`(.|\n)*Logs: .*sift"
    ):
        gm.run(recipe)
    assert queue() == []


def test_plan_prints_the_jobs_and_touches_nothing(tmp_path: Path, make_recipe: MakeRecipe) -> None:
    import yaml

    pytest.importorskip("datatrove")
    engine = {"kind": "slurm", "partition": "cpu", "time": "1:30:00", "tasks": 64, "cpus_per_task": 4}
    recipe = make_recipe(
        tmp_path / "out", **engine, sbatch_args={"account": "mill"}, at_once=16, env_command="module load x"
    )
    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump(recipe))
    told = CliRunner().invoke(app, ["plan", str(file)], env={"COLUMNS": "200"}).output
    for expected in (
        "sift",
        "dedup-minhash.pairs",
        "tokenizer/training",
        "up to 64",
        "--partition=cpu",
        "--account=mill",
    ):
        assert expected in told
    assert "--array=0-10%16" in told
    assert "--cpus-per-task=4" in told
    assert f"--output={tmp_path}/out/.cluster/RUN/logs/sift/%A_%a.out" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ({"kind": "slurm", "time": "1:00", "tasks": 2}, "expected `partition` for an engine of kind slurm"),
        ({"kind": "ray", "tasks": 2, "partition": "cpu"}, "expected no `partition` for an engine of kind ray"),
        ({"tasks": 2}, "expected no `tasks` for an engine of kind local"),
        ({"kind": "pbs"}, "expected 'local', 'slurm' or 'ray', found 'pbs'"),
    ],
)
def test_an_engine_takes_its_own_keys(make_recipe: MakeRecipe, engine: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        gm.Recipe.from_dict(make_recipe("out", **engine))

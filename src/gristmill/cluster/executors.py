"""The jobs of a run as datatrove's executors: SlurmPipelineExecutor, each behind the one before; RayPipelineExecutor,
one after the other."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from datatrove.executor import RayPipelineExecutor, SlurmPipelineExecutor
from datatrove.utils.logging import logger

from gristmill.cluster.chain import ChainJob
from gristmill.cluster.queue import cancel
from gristmill.cluster.rank import RouteJob
from gristmill.cluster.submission import Submission
from gristmill.errors import TaskError
from gristmill.places.place import Place
from gristmill.recipe import Recipe

# Where a recipe says nothing: the environment of whoever submits, which nodes find at the same path.
_OWN_ENVIRONMENT = f'export PATH="{Path(sys.executable).parent}:$PATH"'


class SlurmJob(SlurmPipelineExecutor):  # type: ignore[misc]  # datatrove has no types
    """One array job. The ledger tells what datatrove's merged statistics would, so no job is spent on them."""

    def launch_merge_stats(self) -> None:
        """Nothing to merge."""


def sbatch_arguments(recipe: Recipe) -> dict[str, Any]:
    """What sbatch is told beside what datatrove says by itself."""
    engine = recipe.engine
    return {
        "mem-per-cpu": f"{engine.mem_per_cpu >> 20}M",
        "kill-on-invalid-dep": "yes",  # where a job failed, those behind it go
        **engine.sbatch_args,
    }


def slurm_jobs(recipe: Recipe, submission: Submission, chain: Sequence[ChainJob], first_ranks: int) -> list[SlurmJob]:
    """The jobs of a chain, each depending on the one before. Nothing is submitted yet."""
    engine = recipe.engine
    jobs: list[SlurmJob] = []
    for number, each in enumerate(chain):
        logs = logging_folder(recipe, submission) / each.name
        job = SlurmJob(
            pipeline=[RouteJob(submission.place, submission.name, each.name)],
            tasks=first_ranks if number == 0 else engine.tasks,
            time=engine.time,
            partition=engine.partition,
            cpus_per_task=engine.cpus_per_task,
            workers=engine.at_once or -1,
            job_name=f"gristmill-{each.name}",
            qos=engine.qos or "",
            env_command=engine.env_command or (None if engine.venv else _OWN_ENVIRONMENT),
            venv_path=engine.venv,
            sbatch_args=sbatch_arguments(recipe),
            max_array_size=engine.max_array_size,
            depends=jobs[-1] if jobs else None,
            logging_dir=str(logs),
            slurm_logs_folder=str(logs),
            requeue=False,
            with_srun=False,
        )
        jobs.append(job)
    return jobs


def sbatch_options(recipe: Recipe, place: Place, job: ChainJob, ranks: int) -> dict[str, Any]:
    """What sbatch is told of a job. Nothing is written where the run will be: datatrove makes the folder of logs."""
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = recipe.model_copy(update={"engine": recipe.engine.model_copy(update={"logging_dir": folder})})
        [described] = slurm_jobs(elsewhere, Submission(place, "RUN"), [job], ranks)
        options = described.get_sbatch_args(min(ranks, recipe.engine.max_array_size))
        made, real = (str(logging_folder(each, Submission(place, "RUN"))) for each in (elsewhere, recipe))
        return {key: str(value).replace(made, real) for key, value in options.items()}


def submit(jobs: Sequence[SlurmJob]) -> list[str]:
    """Submit them all; their numbers at Slurm. Raises TaskError where sbatch refuses, and takes back what it took."""
    submitted: list[str] = []
    logger.disable("datatrove")
    for job in jobs:
        try:
            job.run()
        except (subprocess.CalledProcessError, OSError) as error:
            cancel(submitted)
            raise TaskError(
                f"expected sbatch to take job {job.job_name}, found: {error}\n"
                "  Look at `engine` in the recipe: `gristmill plan` shows what sbatch is told."
            ) from error
        submitted.append(job.job_id)
    return submitted


def ray_job(recipe: Recipe, submission: Submission, job: ChainJob, ranks: int) -> Any:
    """One job for Ray."""
    engine = recipe.engine
    logger.disable("datatrove")
    return RayPipelineExecutor(
        pipeline=[RouteJob(submission.place, submission.name, job.name)],
        tasks=ranks,
        cpus_per_task=engine.cpus_per_task,
        mem_per_cpu_gb=engine.mem_per_cpu / (1 << 30),
        logging_dir=str(logging_folder(recipe, submission) / job.name),
    )


def logging_folder(recipe: Recipe, submission: Submission) -> Path:
    """Where the jobs of a run log, which all nodes must see."""
    if recipe.engine.logging_dir is not None:
        return Path(recipe.engine.logging_dir).absolute() / submission.name
    if submission.place.remote:
        return Path("gristmill-logs").absolute() / submission.name
    return submission.place.local / submission.folder / "logs"


def log_ends(folder: Path, job: str, lines: int) -> Iterator[str]:
    """The last lines of the newest logs of a job, for people."""
    logs = sorted((folder / job).glob("*.out"), key=lambda path: path.stat().st_mtime)
    for path in logs[-2:]:
        text = path.read_text(encoding="utf-8", errors="replace").splitlines()
        yield f"{path}:" + "".join(f"{os.linesep}    {line}" for line in text[-lines:])

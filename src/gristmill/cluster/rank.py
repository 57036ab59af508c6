"""What one rank of one job does. As a block of a datatrove pipeline, so that datatrove's executors can carry it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from datatrove.pipeline.base import PipelineStep

from gristmill.cluster.advance import advance
from gristmill.cluster.chain import ChainJob, chain_of
from gristmill.cluster.submission import Submission
from gristmill.engine import record as records
from gristmill.engine.local import Job, LocalEngine
from gristmill.engine.pool import worker_count
from gristmill.engine.record import Record
from gristmill.engine.worker import Failure, Order
from gristmill.errors import GristmillError
from gristmill.places.place import Place
from gristmill.recipe import Recipe


class RouteJob(PipelineStep):  # type: ignore[misc]  # datatrove has no types
    """A group of steps: each rank carries out its orders, and the last one advances the route."""

    name = "gristmill"
    type = "route"

    def __init__(self, place: Place, run: str, job: str) -> None:
        super().__init__()
        self.place = place
        self.run_name = run
        self.job = job

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Any:
        """Nothing comes in and nothing goes out: records tell."""
        carry_out_rank(Submission(self.place, self.run_name), self.job, rank)
        yield from ()


def carry_out_rank(submission: Submission, job: str, rank: int) -> None:
    """Carry out a rank's orders. Raises GristmillError where one of them failed, when the others are done."""
    tasks = submission.tasks(job)
    if tasks is None or rank >= tasks.ranks:
        _say(f"{job}: nothing to do for rank {rank}")
        return
    run = submission.run()
    if Path(run["folder"]).is_dir():
        os.chdir(run["folder"])  # relative paths in a recipe mean what they meant when it was submitted
    try:
        recipe = Recipe.from_dict(run["recipe"])
        engine = recipe.engine
        workers = worker_count(engine.cpus_per_task, engine.cpus_per_task * engine.mem_per_cpu)
        workers = 0 if workers == 1 else workers  # one is this process
        _carry_out(submission, job, rank, workers)
        if submission.mark_done(job, rank, tasks.ranks):
            chain = chain_of(recipe, run["chain"][0])
            here = [each.name for each in chain].index(job)
            _advance(submission, recipe, chain[here + 1 :], workers)
    except Exception as error:
        told = str(error) if isinstance(error, GristmillError) else f"{type(error).__name__}: {error}"
        submission.fail(job, rank, told)
        raise


def _carry_out(submission: Submission, job: str, rank: int, workers: int) -> None:
    failures: list[tuple[Order, Failure]] = []
    orders = [order for order in submission.orders(job, rank) if not _is_done(order)]
    started = time.perf_counter()
    with LocalEngine(submission.place, workers, _Log()) as engine:
        for done, (order, result) in enumerate(engine.carry_out(orders), start=1):
            if isinstance(result, Failure):
                failures.append((order, result))
                _say(f"{order.step}: task {order.task} failed: {result.message}\n{result.detail}")
                continue
            for text in result.notices:
                _say(text)
            seconds = time.perf_counter() - started
            _say(f"{order.step}/{order.task} in {result.seconds:.1f} s; {done} of {len(orders)} in {seconds:.0f} s")
    if failures:
        order, first = failures[0]
        more = f" (and {len(failures) - 1} more of this rank)" if len(failures) > 1 else ""
        detail = f"\n{first.detail.rstrip()}" if first.detail and not first.final else ""
        raise first.error(f"{order.step}: task {order.task}{more} failed: {first.message}{detail}")


def _is_done(order: Order) -> bool:
    """Whether this rank did it before it was ended and begun again."""
    folder = Path(order.folder)
    record = records.read(folder, order.task)
    done = record is not None and record.fingerprint == order.fingerprint
    return done and record is not None and not records.lacking(folder, record, order.place.size_of)


def _advance(submission: Submission, recipe: Recipe, chain: Iterable[ChainJob], workers: int) -> None:
    next_job = advance(submission, recipe, list(chain), _Log(), workers)
    _say(f"the next job is {next_job}" if next_job else "the route is at its end")


class _Log:
    """What an engine tells, as lines in a job's log."""

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """Which step."""
        _say(f"{jobs[0].step.name}: {len(jobs)} tasks")

    def finished(self, job: Job, record: Record) -> None:
        """How long it took."""
        _say(f"{job.step.name}/{job.task.name} in {record.seconds:.1f} s")

    def ended(self) -> None:
        """Not told."""

    def notice(self, text: str) -> None:
        """Told."""
        _say(text)


def _say(text: str) -> None:
    from datatrove.utils.logging import logger

    logger.info(text)

"""Following the route by records, up to the next job of a cluster that has something to do.

What enters: an output folder, in which all tasks of the jobs before are done. What leaves: the orders of the next job;
or, where the route is at its end, the ledger and the manifests. On the way, groups of one task are carried out here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from gristmill.cluster.chain import ChainJob, chain_of, shares_of
from gristmill.cluster.submission import Submission
from gristmill.engine.ledger import Ledger
from gristmill.engine.local import Job, LocalEngine, Observer
from gristmill.engine.step import Step
from gristmill.recipe import Recipe
from gristmill.route.finish import write_books
from gristmill.route.groups import name_of
from gristmill.route.steps import steps_of


def begin(submission: Submission, recipe: Recipe, observer: Observer, check: bool) -> list[ChainJob]:
    """The submitter's part: what is done is checked, once for the whole run, and the first job gets its orders. Carries
    out no task, but for what is damaged. No jobs: all is done, the last files too."""
    started = time.perf_counter()
    ledger = Ledger()
    workers = _threads(recipe)
    with LocalEngine(submission.place, 0, observer, check) as engine:
        route = steps_of(recipe, submission.place.local, workers, ledger)
        steps = next(route)
        done: list[Step] = []
        while True:
            found, jobs = engine.look(steps)
            if jobs:
                engine.mend(done)
                chain = chain_of(recipe, name_of(steps))
                _give(submission, engine, chain[0], jobs, recipe, len(found))
                return chain
            done += steps
            try:
                steps = route.send(engine.take(steps, found))
            except StopIteration as end:
                write_books(submission.place, ledger, end.value, time.perf_counter() - started)
                submission.finish()
                return []


def advance(submission: Submission, recipe: Recipe, chain: Sequence[ChainJob], observer: Observer, workers: int) -> str:
    """The last rank's part: give the next of these jobs that has several tasks its orders; what is one task is carried
    out here. Returns the job's name; "" where the route is at its end."""
    started = time.perf_counter()
    ledger = Ledger()
    with LocalEngine(submission.place, workers, observer, mends=False) as engine:
        route = steps_of(recipe, submission.place.local, _threads(recipe), ledger)
        steps = next(route)
        while True:
            found, jobs = engine.look(steps)
            job = next((job for job in chain if job.group == name_of(steps)), None)
            if len(jobs) > 1 and job is not None:
                _give(submission, engine, job, jobs, recipe, len(found))
                return job.name
            try:
                steps = route.send(engine.run(steps) if jobs else engine.take(steps, found))
            except StopIteration as end:
                write_books(submission.place, ledger, end.value, time.perf_counter() - started)
                submission.finish()
                return ""


def _give(
    submission: Submission, engine: LocalEngine, job: ChainJob, jobs: Sequence[Job], recipe: Recipe, done: int
) -> None:
    shares = shares_of(jobs, recipe.engine.tasks or 1)
    submission.give(job.name, jobs, [engine.orders(share) for share in shares], done)


def _threads(recipe: Recipe) -> int:
    return recipe.engine.cpus_per_task

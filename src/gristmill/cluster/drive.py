"""Carrying out a recipe on a cluster: submit, watch the records, say what came of it.

What enters: a recipe whose engine is `slurm` or `ray`. What leaves: what a run on one machine leaves, byte for byte.
Slurm's jobs are submitted at once, each behind the one before, and need nobody who waits. Ray's are begun one after
the other, as long as this process lives. Ended early, either goes on from its records when it is run again.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gristmill.cluster.advance import begin
from gristmill.cluster.chain import ChainJob
from gristmill.cluster.submission import FOLDER, JobTasks, Submission
from gristmill.engine import record as records
from gristmill.engine.lease import Lease
from gristmill.engine.local import Observer
from gristmill.errors import RecipeError, TaskError
from gristmill.places.place import Place
from gristmill.recipe import Recipe

_SECONDS_BETWEEN_LOOKS = 0.5


def require(kind: str) -> None:
    """Raises RecipeError that names the command which installs what an engine needs."""
    for package in ("datatrove", "ray") if kind == "ray" else ("datatrove",):
        if find_spec(package) is None:
            raise RecipeError(
                f"expected {package} for `engine: {{kind: {kind}}}`, found it is not installed.\n"
                '  Run `pip install "gristmill[cluster]"`.'
            )


def run_on_cluster(
    recipe: Recipe, place: Place, lease: Lease, observer: Observer, check: bool, wait: bool
) -> str | None:
    """Submit, and wait for the end unless `wait` is false. Returns what people should know who do not wait.

    Raises a GristmillError that says what failed where: all of the same job that did not fail is done and kept.
    """
    engine = recipe.engine
    require(engine.kind)
    submission = Submission(place, time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(3))
    place.remove_folder(FOLDER)
    chain = begin(submission, recipe, observer, check)
    if not chain:
        return None
    submission.write_run(
        {"recipe": recipe.to_dict(), "folder": str(Path.cwd()), "chain": [each.group for each in chain]}
    )
    tasks = submission.tasks(chain[0].name)
    assert tasks is not None, "whoever begins a run gives its first job its tasks"
    if engine.kind == "ray":
        _run_on_ray(recipe, submission, chain, observer)
        return None
    return _run_on_slurm(recipe, submission, chain, tasks.ranks, lease, observer, wait)


def _run_on_slurm(
    recipe: Recipe, submission: Submission, chain: Sequence[ChainJob], ranks: int, lease: Lease, observer: Observer,
    wait: bool,
) -> str | None:  # fmt: skip
    from gristmill.cluster import executors, queue

    jobs = executors.slurm_jobs(recipe, submission, chain, ranks)
    numbers = executors.submit(jobs)
    lease.hand_over(numbers)
    told = ", ".join(f"{job.name} {number}" for job, number in zip(chain, numbers, strict=True))
    observer.notice(f"submitted to Slurm, each behind the one before: {told}")
    if not wait:
        logs = executors.logging_folder(recipe, submission)
        return f"Slurm has it. `gristmill plan` shows how far it is; the logs: {logs}"
    watch = _Watch(submission, chain, observer)
    while (there := queue.waiting(numbers)) is None or there:
        time.sleep(watch.look())
    watch.look()
    watch.close()
    _require_finished(recipe, submission, chain)
    return None


def _run_on_ray(recipe: Recipe, submission: Submission, chain: Sequence[ChainJob], observer: Observer) -> None:
    import ray

    from gristmill.cluster import executors

    if not ray.is_initialized():
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "include_dashboard": False}
        ray.init(address=recipe.engine.address, **quiet)
    watch = _Watch(submission, chain, observer)
    for job in chain:
        tasks = submission.tasks(job.name)
        if tasks is None:  # nothing to do, or the route has failed
            continue
        executor = executors.ray_job(recipe, submission, job, tasks.ranks)
        _beside(executor.run, watch.look)
        if submission.failures(job.name):
            break
    watch.close()
    _require_finished(recipe, submission, chain)


def _beside(work: Callable[[], None], look: Callable[[], float]) -> None:
    """Do something that blocks in a thread, and look now and then. Raises what it raises."""
    raised: list[BaseException] = []

    def target() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  it travels to the waiting thread
            raised.append(error)

    thread = threading.Thread(target=target, name="gristmill-ray", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(look())
    look()
    if raised:
        raise TaskError(f"Ray gave up: {type(raised[0]).__name__}: {raised[0]}") from raised[0]


class _Watch:
    """Tells an observer what the records of a cluster's jobs say."""

    def __init__(self, submission: Submission, chain: Sequence[ChainJob], observer: Observer) -> None:
        self._submission = submission
        self._left = list(chain)
        self._observer = observer
        self._tasks: JobTasks | None = None
        self._seen: set[int] = set()

    def look(self) -> float:
        """See what is new. Returns how many seconds not to look again: looking is work for a store, too."""
        started = time.perf_counter()
        self._look()
        return max(_SECONDS_BETWEEN_LOOKS, 4 * (time.perf_counter() - started))

    def _look(self) -> None:
        while self._left:
            if self._tasks is None and not self._open():
                return
            self._look_at_tasks()
            assert self._tasks is not None, "it was opened"
            if len(self._seen) < len(self._tasks.jobs):
                return
            self.close()
            self._left.pop(0)

    def _open(self) -> bool:
        """The first of the jobs left that has tasks; those before it have none."""
        for number, job in enumerate(self._left):
            if (tasks := self._submission.tasks(job.name)) is not None:
                del self._left[:number]
                self._tasks = tasks
                self._observer.started(tasks.jobs, tasks.done)
                return True
        return False

    def _look_at_tasks(self) -> None:
        tasks = self._tasks
        assert tasks is not None, "it was opened"
        place = self._submission.place
        for step in dict.fromkeys(job.step.name for job in tasks.jobs):
            place.refresh(step)
        for number, (job, wanted) in enumerate(zip(tasks.jobs, tasks.fingerprints, strict=True)):
            if number not in self._seen:
                record = records.read(place.local / job.step.name, job.task.name)
                if record is not None and record.fingerprint == wanted:
                    self._seen.add(number)
                    self._observer.finished(job, record)

    def close(self) -> None:
        """No more will come of the job at hand."""
        if self._tasks is not None:
            self._observer.ended()
        self._tasks = None
        self._seen.clear()


def _require_finished(recipe: Recipe, submission: Submission, chain: Sequence[ChainJob]) -> None:
    """Raises TaskError that says which job stopped the route, and why."""
    from gristmill.cluster import executors

    if submission.is_finished():
        return
    begun = [job.name for job in chain if submission.tasks(job.name) is not None]
    job = begun[-1] if begun else chain[0].name
    failures = submission.failures(job)
    logs = executors.logging_folder(recipe, submission)
    if failures:
        rank, message = next(iter(failures.items()))
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        what = f"rank {rank}{more} failed: {message}"
    else:
        ends = list(executors.log_ends(logs, job, lines=5))
        what = "\n  ".join(["a rank was ended from outside (a kill, a limit of time or memory)", *ends])
    raise TaskError(
        f"{recipe.engine.kind} job {job}: {what}\n"
        f"  What was finished is kept. Logs: {logs / job}\n"
        "  Mend the cause and run the same command again, here or on one machine."
    )

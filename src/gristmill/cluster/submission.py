"""What the processes of one run on a cluster tell each other: small files in `OUTPUT/.cluster/RUN`.

    run.json               recipe, working folder, the chain of jobs
    JOB/tasks.json         the job's tasks: step, name, bytes, fingerprint; and how many ranks have orders
    JOB/orders/00000       pickled orders of a rank
    JOB/done/00000         this rank has carried out all of its own
    JOB/failed/00000       what went wrong, as text
    JOB/last               which rank was the last, and advances the route
    finished               the whole route is done

A job without tasks.json has nothing to do. Every file is whole or absent; marks are made, never changed.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gristmill.engine.local import Job
from gristmill.engine.step import Step, Task
from gristmill.engine.worker import Order
from gristmill.errors import ResumeError
from gristmill.places.place import Place

FOLDER = ".cluster"


@dataclass(frozen=True)
class JobTasks:
    """What a job has to do."""

    ranks: int
    jobs: tuple[Job, ...]  # as observers see them: without what only workers need
    fingerprints: tuple[str, ...]
    done: int  # tasks of the same steps that were up to date before


@dataclass(frozen=True)
class Submission:
    """One run on a cluster."""

    place: Place
    name: str

    @property
    def folder(self) -> str:
        """Below the output."""
        return f"{FOLDER}/{self.name}"

    def write_run(self, value: dict[str, Any]) -> None:
        """Say what the run is."""
        self.place.write_bytes(f"{self.folder}/run.json", json.dumps(value).encode())

    def run(self) -> dict[str, Any]:
        """What the run is. Raises ResumeError where it is gone."""
        content = self.place.read_bytes(f"{self.folder}/run.json")
        if content is None:
            raise ResumeError(f"expected a run on a cluster, found it is gone: {self.place.address}/{self.folder}")
        value: dict[str, Any] = json.loads(content)
        return value

    def give(self, job: str, jobs: Sequence[Job], shares: Sequence[Sequence[Order]], done: int) -> None:
        """Lay down the orders of a job, a share for each rank; the list of tasks last."""
        for rank, orders in enumerate(shares):
            self.place.write_bytes(self._file(job, f"orders/{rank:05}"), pickle.dumps(list(orders)))
        tasks = [[each.step.name, each.task.name, each.task.bytes, each.why] for each in jobs]
        prints = [each.step.task_fingerprint(each.task) for each in jobs]
        content = {"ranks": len(shares), "done": done, "tasks": tasks, "fingerprints": prints}
        self.place.write_bytes(self._file(job, "tasks.json"), json.dumps(content).encode())

    def tasks(self, job: str) -> JobTasks | None:
        """What a job has to do; None where that is nothing, or not known yet."""
        content = self.place.read_bytes(self._file(job, "tasks.json"))
        if content is None:
            return None
        value = json.loads(content)
        jobs = tuple(
            Job(Step(step, "", 0, {}, ()), Task(task, {}, None, size_bytes), why)
            for step, task, size_bytes, why in value["tasks"]
        )
        return JobTasks(value["ranks"], jobs, tuple(value["fingerprints"]), value["done"])

    def orders(self, job: str, rank: int) -> list[Order]:
        """What a rank has to do."""
        content = self.place.read_bytes(self._file(job, f"orders/{rank:05}"))
        found: list[Order] = [] if content is None else pickle.loads(content)  # noqa: S301  written by our submitter
        return found

    def mark_done(self, job: str, rank: int, ranks: int) -> bool:
        """A rank has carried out its orders; true for the one that finds all others done, however often it asks."""
        self.place.write_bytes(self._file(job, f"done/{rank:05}"), b"")
        if len(self.place.names(self._file(job, "done"))) < ranks:
            return False
        last = self._file(job, "last")
        own = str(rank).encode()
        return self.place.create(last, own) or self.place.read_bytes(last) == own

    def fail(self, job: str, rank: int, message: str) -> None:
        """Say what went wrong with a rank."""
        self.place.write_bytes(self._file(job, f"failed/{rank:05}"), message.encode())

    def failures(self, job: str) -> dict[int, str]:
        """What went wrong with which rank."""
        folder = self._file(job, "failed")
        return {
            int(name): (self.place.read_bytes(f"{folder}/{name}") or b"").decode() for name in self.place.names(folder)
        }

    def finish(self) -> None:
        """The whole route is done."""
        self.place.write_bytes(f"{self.folder}/finished", b"")

    def is_finished(self) -> bool:
        """Whether it is."""
        return self.place.read_bytes(f"{self.folder}/finished") is not None

    def _file(self, job: str, name: str) -> str:
        return f"{self.folder}/{job}/{name}"

"""The local engine: brings steps up to date and survives what happens to their tasks.

Guarantees: a task whose record is current is not run; files that an earlier run wrote are checked before others
read them, and made again where they are damaged, as is what was made from them; a task that fails for good does not
keep the others from finishing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gristmill.engine import record as records
from gristmill.engine.damage import Damage
from gristmill.engine.pool import WorkerPool
from gristmill.engine.record import Record
from gristmill.engine.step import Step, Task
from gristmill.engine.worker import Failure, Order, carry_out
from gristmill.errors import GristmillError
from gristmill.places.place import UNREAD, Needed, Place

Found = dict[tuple[str, str], Record]  # by the names of step and task


@dataclass(frozen=True)
class Job:
    """A task that must run, and why."""

    step: Step
    task: Task
    why: str


class Observer(Protocol):
    """Who watches a run: a progress bar, a log, a test."""

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """Some tasks are about to run; `tasks_done` more of the same steps are up to date."""

    def finished(self, job: Job, record: Record) -> None:
        """A task is done."""

    def ended(self) -> None:
        """All tasks of the last `started` have ended, well or not."""

    def notice(self, text: str) -> None:
        """Something people should know; not an error."""


class LocalEngine:
    """Runs steps below one output folder. Use as a context manager: leaving it ends the workers.

    `workers` = 0 runs tasks in this process, for debugging. With `check`, the files of tasks that are done are read
    against their checksums even where nobody reads them now; without `mends`, not even where somebody does.
    """

    def __init__(
        self, output: Path | Place, workers: int, observer: Observer, check: bool = False, mends: bool = True
    ) -> None:
        self.place = output if isinstance(output, Place) else Place(output)
        self.output = self.place.local
        self.check = check
        self.mends = mends
        self.observer = observer
        self._workers = workers
        self._pool = WorkerPool(workers, observer.notice)
        self._known_good: set[Path] = set()
        self._files: dict[str, list[Needed]] = {}  # of all tasks done, by their paths and by the folders they lie in
        self.damage: Damage | None = None  # where `follow` lets what was made from damage be made again
        self._made_at: dict[tuple[str, str], int] = {}  # how much damage was known when a task ran

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._pool.close()

    def begin(self, function: str) -> None:
        """Start the workers, while this process still plans; each calls `function` to load what comes first."""
        self._pool.begin(function)

    def run(self, steps: Sequence[Step]) -> list[list[Record]]:
        """Bring every task of these steps up to date, their tasks side by side; records in task order."""
        found, jobs = self.look(steps)
        if jobs:
            if self.mends:
                self.mend({id(read): read for job in jobs for read in job.step.reads}.values())
            self.observer.started(jobs, tasks_done=len(found))
            try:
                found.update(self._run_all(jobs))
            finally:
                self.observer.ended()
        return self.take(steps, found)

    def look(self, steps: Sequence[Step]) -> tuple[Found, list[Job]]:
        """What is done and what is not, as `outstanding` tells it; what strangers left is taken away."""
        for step in steps:
            self.place.refresh(step.name)
            self._remove_strangers(step)
            if self.check:
                self._forget_damaged(step)
            if self.damage is not None:
                self._forget_made_from(self.damage, step)
        found, jobs = outstanding(self.place, steps)
        if self.damage is not None:
            for job in jobs:
                self._note_torn(self.damage, job)
        return found, jobs

    def take(self, steps: Sequence[Step], found: Found) -> list[list[Record]]:
        """The records of steps of which all tasks are done; their files are known from now on."""
        if self.place.remote:
            for step in steps:
                for task in step.tasks:
                    self._know(step, task, found[step.name, task.name])
        return [[found[step.name, task.name] for task in step.tasks] for step in steps]

    def _know(self, step: Step, task: Task, record: Record) -> None:
        own = [
            Needed(f"{step.name}/{file.path}", file.bytes, file.checksum, f"{step.name}/{task.name}.json")
            for file in record.files
        ]
        if step.parent_opens:
            self.place.fetch(own)
        for needed in own:
            path = self.output / needed.path
            self._files[str(path)] = [needed]
            self._files.setdefault(str(path.parent), []).append(needed)

    def _mend(self, step: Step) -> None:
        """Bring a step that others read up to date again where files of it are damaged."""
        if self._forget_damaged(step):
            self.run([step])

    def _forget_damaged(self, step: Step) -> bool:
        """Check what an earlier run wrote for this step; take away the records of damaged files. Whether any were."""
        written = [
            (task, self.output / step.name / file.path, file.checksum)
            for task in step.tasks
            if (record := records.read(self.output / step.name, task.name)) is not None
            for file in record.files
        ]
        unknown = [item for item in written if item[1] not in self._known_good]
        with ThreadPoolExecutor(max(1, self._workers)) as threads:
            sums = list(threads.map(lambda item: self.place.checksum_of(item[1]), unknown))
        damaged = False
        for (task, path, expected), actual in zip(unknown, sums, strict=True):
            if actual in (expected, UNREAD):
                self._known_good.add(path)
            else:
                self.observer.notice(f"damaged (its checksum differs), making it again: {path}")
                if self.damage is not None:
                    self.damage.add(expected)
                self._forget(step, task)
                damaged = True
        return damaged

    def mend(self, steps: Iterable[Step]) -> None:
        """Check what earlier runs wrote for these steps, and make again what is damaged."""
        for step in steps:
            self._mend(step)

    def _forget_made_from(self, damage: Damage, step: Step) -> None:
        """Who comes next may know a task by its fingerprint instead of its files' checksums: that is damaged, too."""
        for task in step.tasks:
            if damage.touches(task.inputs, self._made_at.get((step.name, task.name), 0)):
                damage.add(step.task_fingerprint(task))
                self._forget(step, task)

    def _note_torn(self, damage: Damage, job: Job) -> None:
        """Others may have read a file before it had another size than its record says."""
        folder = self.output / job.step.name
        record = records.read(folder, job.task.name)
        for file in record.files if record else ():
            if self.place.size_of(folder / file.path) not in (None, file.bytes):
                self.observer.notice(f"damaged (its size differs), making it again: {folder / file.path}")
                damage.add(file.checksum)

    def _forget(self, step: Step, task: Task) -> None:
        """Take away a task's record before its files."""
        folder = self.output / step.name
        record = records.read(folder, task.name)
        written = [folder / file.path for file in record.files] if record else []
        self.place.remove([records.path_of(folder, task.name), *written])

    def _remove_strangers(self, step: Step) -> None:
        """Take away the records and files of tasks that the step no longer has (fewer chunks than before)."""
        folder = self.output / step.name
        names = {task.name for task in step.tasks}
        for path in folder.glob("*.json") if folder.is_dir() else ():
            record = records.read(folder, path.stem) if path.stem not in names else None
            if record is not None:
                self.place.remove([path, *(folder / file.path for file in record.files)])

    def _run_all(self, jobs: Sequence[Job]) -> Found:
        by_place = {(job.step.name, job.task.name): job for job in jobs}
        finished: Found = {}
        failures: list[tuple[Job, Failure]] = []
        jobs = sorted(jobs, key=lambda job: 0 if job.step.in_order else -job.task.bytes)
        for order, result in self.carry_out(self.orders(jobs), jobs[0].step.meanwhile):
            job = by_place[order.step, order.task]
            if isinstance(result, Failure):
                failures.append((job, result))
                continue
            finished[order.step, order.task] = result
            self._made_at[order.step, order.task] = len(self.damage) if self.damage is not None else 0
            self._known_good.update(Path(order.folder) / file.path for file in result.files)
            for text in result.notices:
                self.observer.notice(text)
            self.observer.finished(job, result)
        if failures:
            raise _failed(failures, tasks_finished=len(finished))
        return finished

    def carry_out(self, orders: Sequence[Order], meanwhile: str = "") -> Iterable[tuple[Order, Record | Failure]]:
        """Carry out orders, whoever gave them; what came of each."""
        if self._workers:
            yield from self._pool.run(orders, meanwhile)
            return
        for order in orders:
            result = carry_out(order)
            yield order, result
            if isinstance(result, Failure) and result.final:
                return

    def orders(self, jobs: Sequence[Job]) -> list[Order]:
        """Jobs as they travel to workers."""
        needs: dict[int, tuple[tuple[Needed, ...], ...]] = {}
        return [
            Order(
                step=job.step.name,
                task=job.task.name,
                function=job.step.function,
                work=job.task.work,
                folder=str(self.output / job.step.name),
                fingerprint=job.step.task_fingerprint(job.task),
                made_from=job.step.recipe_of(job.task),
                input_bytes=job.task.bytes,
                place=self.place,
                needs=self.place.needs(job.task.work, self._files, needs),
            )
            for job in jobs
        ]


def outstanding(place: Place, steps: Sequence[Step]) -> tuple[Found, list[Job]]:
    """What is done already (records by step and task name), and the tasks that must run."""
    found: Found = {}
    jobs: list[Job] = []
    for step in steps:
        for task in step.tasks:
            record, why = records.current(place.local / step.name, step, task, place.size_of)
            if record is None:
                jobs.append(Job(step, task, why))
            else:
                found[step.name, task.name] = record
    return found, jobs


def main_reason(jobs: Sequence[Job]) -> str:
    """The reason that most of these jobs share: why they run."""
    return Counter(job.why for job in jobs).most_common(1)[0][0]


def _failed(failures: Sequence[tuple[Job, Failure]], tasks_finished: int) -> GristmillError:
    job, first = failures[0]
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    detail = f"\n{first.detail.rstrip()}" if first.detail and not first.final else ""
    message = (
        f"{job.step.name}: task {job.task.name}{more} failed: {first.message}{detail}\n"
        f"  {tasks_finished} other tasks finished and are kept. Mend the cause and run the same command again."
    )
    return first.error(message)

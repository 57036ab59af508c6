"""Carrying out a recipe: the route's steps, one after another, in one locked output folder."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from gristmill import foreign_code
from gristmill.engine import record as records
from gristmill.engine.ledger import Ledger
from gristmill.engine.local import Job, LocalEngine, Observer, outstanding
from gristmill.engine.pool import worker_count
from gristmill.engine.record import Record
from gristmill.engine.step import Step
from gristmill.engine.worker import peak_memory_bytes
from gristmill.errors import ResumeError, TaskError
from gristmill.formats import files
from gristmill.recipe import Recipe

FIRST_WORK = "gristmill.route.sift:warm_up"  # what workers load as they start

T = TypeVar("T")
LOCK = ".lock"
RECORD = "run"  # the run's own, beside the folders of the stages: checksums of what was written at its end
_OWN_FILES = ("recipe.yaml", "ledger.json", "mixture.csv")


@dataclass(frozen=True)
class Result:
    """What a run leaves: where it lies, and its books."""

    path: Path
    ledger: Ledger


@dataclass(frozen=True)
class Silent:
    """The observer that says nothing; it keeps the notices."""

    notices: list[str] = field(default_factory=list)

    def started(self, jobs: object, tasks_done: int) -> None:
        """Not shown."""

    def finished(self, job: Job, record: Record) -> None:
        """Not shown."""

    def ended(self) -> None:
        """Not shown."""

    def notice(self, text: str) -> None:
        """Kept."""
        self.notices.append(text)


def load_recipe(recipe: Recipe | Mapping[str, Any] | str | os.PathLike[str], allow_code: bool | None = None) -> Recipe:
    """A recipe from a recipe, a map as YAML gives it, or a file. What one names as `module:Class` is imported if
    `allow_code` says so; by default for objects, which the caller made, and not for files, which anybody may have."""
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, Mapping):
        with foreign_code.allowed(allow_code is not False):
            return Recipe.from_dict(recipe)
    return Recipe.from_yaml(recipe, allow_code=bool(allow_code))


def run(
    recipe: Recipe | Mapping[str, Any] | str | os.PathLike[str],
    observer: Observer | None = None,
    *,
    allow_code: bool | None = None,
    check: bool = False,
) -> Result:
    """Carry out a recipe: raw text in, training batches out. What is up to date is not done again; with `check`, it is
    first read against its checksums, and made again where it is damaged. A recipe file that names code
    (`module:Class`) is refused without `allow_code=True`.

    Raises a GristmillError that says what was expected, what was found, where, and what to do.
    """
    from gristmill.route.shares import write_shares

    recipe = load_recipe(recipe, allow_code)
    output = Path(recipe.output.path)
    watcher = observer or Silent()
    workers = worker_count(recipe.engine.workers, recipe.engine.memory)
    started = time.perf_counter()
    with locked(output):
        files.sweep(output)
        records.path_of(output, RECORD).unlink(missing_ok=True)
        _write_recipe(recipe, output)
        ledger = Ledger()
        with LocalEngine(output, workers, watcher, check) as engine:
            engine.begin(FIRST_WORK)
            from gristmill.route.steps import steps_of  # takes 0.2 s, in which workers start

            finish = follow(engine, steps_of(recipe, output, workers, ledger))
            last = finish()
        ledger.write(output)
        write_shares(output, ledger)
        _write_record(output, [*last, *(output / name for name in _OWN_FILES)], time.perf_counter() - started)
    return Result(output, ledger)


def follow(engine: LocalEngine, route: Generator[list[Step], list[list[Record]], T]) -> T:
    """Bring each group of steps up to date and tell the route; returns what the route returns."""
    steps = next(route)
    while True:
        try:
            steps = route.send(engine.run(steps))
        except StopIteration as end:
            result: T = end.value
            return result


@dataclass(frozen=True)
class Plan:
    """What a run would do: tasks that are done, tasks that must run, and which stages must wait to be known."""

    done: dict[str, int]  # step name → tasks up to date
    jobs: list[Job]
    input_bytes: int
    workers: int


def plan(recipe: Recipe | Mapping[str, Any] | str | os.PathLike[str], *, allow_code: bool | None = None) -> Plan:
    """Look, but touch nothing: the route is followed as far as its results are there already."""
    from gristmill.route.steps import steps_of

    recipe = load_recipe(recipe, allow_code)
    output = Path(recipe.output.path)
    workers = worker_count(recipe.engine.workers, recipe.engine.memory)
    route = steps_of(recipe, output, workers, Ledger())
    done: Counter[str] = Counter()
    input_bytes = 0
    steps = next(route)
    while True:
        input_bytes += sum(task.bytes for step in steps for task in step.tasks if step.name.startswith("sift/"))
        found, jobs = outstanding(output, steps)
        done.update(step_name for step_name, _ in found)
        if jobs:
            return Plan(done, jobs, input_bytes, workers)
        try:
            steps = route.send([[found[step.name, task.name] for task in step.tasks] for step in steps])
        except StopIteration:
            return Plan(done, [], input_bytes, workers)


def _write_record(output: Path, written: Sequence[Path], seconds: float) -> None:
    """The record of the whole run, by which `verify` knows files that no task wrote."""
    record = Record(
        version=records.VERSION,
        fingerprint="",
        made_from={},
        counts={},
        files=tuple(records.written(output, str(path.relative_to(output))) for path in written),
        notices=(),
        seconds=round(seconds, 4),
        finished=records.now(),
        input_bytes=0,
        peak_memory_bytes=peak_memory_bytes(),
    )
    records.write(output, RECORD, record)


def _write_recipe(recipe: Recipe, output: Path) -> None:
    """Keep the recipe beside its output, so that `report` and `inspect` need nothing else."""
    import yaml

    with files.atomic_file(output / "recipe.yaml") as file:
        file.write(yaml.safe_dump(recipe.to_dict(), sort_keys=False, allow_unicode=True).encode())


@contextmanager
def locked(output: Path) -> Iterator[None]:
    """Hold the output folder: a second run on it is refused, and a killed run's hold is gone with it. What the file
    system refuses meanwhile is a TaskError that names the file."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        lock = open(output / LOCK, "a")  # noqa: SIM115  closed below, after the run
    except OSError as error:
        raise TaskError(f"expected an output folder that can be written, found: {error.strerror}: {output}") from error
    with lock:
        _take(lock, output, alone=True)
        try:
            yield
        except OSError as error:
            where = error.filename or f"somewhere below {output}"
            raise TaskError(
                f"expected files that can be read and written, found: {error.strerror or error}: {where}\n"
                "  What was finished is kept. Mend the cause and run the same command again."
            ) from error


@contextmanager
def shared(output: Path) -> Iterator[None]:
    """Hold a finished run's folder together with other readers: no run changes it meanwhile."""
    try:
        lock = open(output / LOCK)  # noqa: SIM115  closed below
    except OSError:  # copied without it, or not ours to open: then no run of ours is at work in it either
        yield
        return
    with lock:
        _take(lock, output, alone=False)
        yield


def _take(lock: Any, output: Path, alone: bool) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no flock: two runs on one output are then the user's to avoid
        return
    try:
        fcntl.flock(lock, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ResumeError(
            f"expected an output folder of its own, found another run at work in it: {output}\n"
            "  Wait until it has ended, or give this run another `output.path`."
        ) from error

"""Carrying out a recipe: the route's steps, one after another, in one locked output folder."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from gristmill import foreign_code
from gristmill.engine.damage import Damage
from gristmill.engine.lease import FILE as LEASE
from gristmill.engine.lease import Lease
from gristmill.engine.ledger import Ledger
from gristmill.engine.local import Job, LocalEngine, Observer, outstanding
from gristmill.engine.pool import worker_count
from gristmill.engine.record import Record
from gristmill.engine.step import Step
from gristmill.errors import ResumeError, TaskError
from gristmill.formats import files
from gristmill.places.addresses import is_remote
from gristmill.places.mirror import mirror_of
from gristmill.places.place import Place
from gristmill.recipe import Recipe
from gristmill.route.finish import open_books, write_books

FIRST_WORK = "gristmill.route.sift:warm_up"  # what workers load as they start

T = TypeVar("T")
LOCK = ".lock"


@dataclass(frozen=True)
class Result:
    """What a run leaves: where it lies, and its books."""

    path: Path
    ledger: Ledger
    submitted: str = ""  # where nobody waited for the end: what is known of it


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
    wait: bool = True,
) -> Result:
    """Carry out a recipe: raw text in, training batches out. What is up to date is not done again; with `check`, it is
    first read against its checksums, and made again where it is damaged. A recipe file that names code
    (`module:Class`) is refused without `allow_code=True`. Without `wait`, a run that Slurm carries out is only
    submitted, and the result's ledger is empty.

    Raises a GristmillError that says what was expected, what was found, where, and what to do.
    """
    recipe = load_recipe(recipe, allow_code)
    watcher = observer or Silent()
    place = place_of(recipe)
    with held(place, recipe.engine.kind) as lease:
        files.sweep(place.local)
        open_books(place, recipe)
        if recipe.engine.kind == "local":
            ledger = _run_here(recipe, place, watcher, check)
        else:
            from gristmill.cluster.drive import run_on_cluster

            assert lease is not None, "a run on a cluster holds its output by a lease"
            submitted = run_on_cluster(recipe, place, lease, watcher, check, wait)
            if submitted:
                return Result(place.local, Ledger(), submitted)
            place.bring(place.local / "ledger.json")
            ledger = Ledger.read(place.local)
    return Result(place.local, ledger)


def _run_here(recipe: Recipe, place: Place, observer: Observer, check: bool) -> Ledger:
    started = time.perf_counter()
    workers = worker_count(recipe.engine.workers, recipe.engine.memory)
    ledger = Ledger()
    with LocalEngine(place, workers, observer, check) as engine:
        engine.begin(FIRST_WORK)
        for notice in notices_before(recipe):
            observer.notice(notice)
        from gristmill.route.steps import steps_of  # takes 0.2 s, in which workers start

        finish = follow(engine, lambda: steps_of(recipe, place.local, workers, ledger.emptied()))
    write_books(place, ledger, finish, time.perf_counter() - started)
    return ledger


def place_of(recipe: Recipe) -> Place:
    """Where the output of a recipe lies."""
    engine = recipe.engine
    if is_remote(recipe.output.path):
        return mirror_of(recipe.output.path, engine.scratch, engine.scratch_size)
    path = Path(recipe.output.path)
    return Place(path if recipe.engine.kind == "local" else path.absolute())


def notices_before(recipe: Recipe) -> Iterator[str]:
    """What people should know of a recipe before it is carried out."""
    from gristmill import sources

    for source in recipe.sources:
        left_out = sources.links_left_out(source.files) if source.files and "://" not in source.files else []
        if left_out:
            yield (
                f"source {source.name}: {len(left_out):,} symbolic links lead out of {source.files} and are not "
                f"followed; name them directly to read them: {left_out[0]!r}"
            )


def follow(engine: LocalEngine, route: Callable[[], Generator[list[Step], list[list[Record]], T]]) -> T:
    """Bring each group of steps up to date and tell the route; returns what the route returns. Where files are found
    damaged on the way, the route is followed once more: steps before may have read them."""
    engine.damage = damage = Damage(engine.output)
    while True:
        known_damage = len(damage)
        result = _follow_once(engine, route())
        if len(damage) == known_damage:
            damage.forget()
            return result


def _follow_once(engine: LocalEngine, route: Generator[list[Step], list[list[Record]], T]) -> T:
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
    place = place_of(recipe)
    workers = worker_count(recipe.engine.workers, recipe.engine.memory)
    route = steps_of(recipe, place.local, workers, Ledger())
    done: Counter[str] = Counter()
    input_bytes = 0
    steps = next(route)
    while True:
        input_bytes += sum(task.bytes for step in steps for task in step.tasks if step.name.startswith("sift/"))
        for step in steps:
            place.refresh(step.name)
        found, jobs = outstanding(place, steps)
        done.update(step_name for step_name, _ in found)
        if jobs:
            return Plan(done, jobs, input_bytes, workers)
        try:
            steps = route.send([[found[step.name, task.name] for task in step.tasks] for step in steps])
        except StopIteration:
            return Plan(done, [], input_bytes, workers)


@contextmanager
def held(place: Place, kind: str) -> Iterator[Lease | None]:
    """Hold a run's output: by a lock of the kernel, and by a lease where that does not reach."""
    with locked(place.local):
        if kind == "local" and not place.remote and not (place.local / LEASE).exists():
            yield None
            return
        lease = Lease(place, _jobs_there)
        with lease.held():
            yield lease


def _jobs_there(numbers: Sequence[str]) -> list[str] | None:
    from gristmill.cluster.queue import waiting

    return waiting(numbers)


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

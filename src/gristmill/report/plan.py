"""What a run would do and what it would take, before it is begun."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gristmill.drive import Plan, place_of
from gristmill.engine.pool import WORKER_BYTES
from gristmill.quantities import show_bytes, show_seconds
from gristmill.recipe import Recipe
from gristmill.report.cluster_jobs import print_cluster_jobs
from gristmill.report.duplicates import print_curves

# Rules of thumb, from bench/route.py on two cores of a small cloud machine: good to a factor of two.
_MB_PER_SECOND_PER_WORKER = {"sift": 60.0, "dedup": 1000.0, "tokenize": 60.0, "pack": 300.0}
_START_SECONDS = 3.0
_TEXT_PER_INPUT_BYTE = {"compressed": 3.3, "plain": 1.0}
_COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".parquet")
_DISK_PER_TEXT_BYTE = 0.40 + 0.50 + 0.50  # documents as zstd Parquet, token shards, packed rows


def print_plan(recipe: Recipe, plan: Plan, console: Console) -> None:
    """The tasks that would run and why, what is done, the size of the input, and estimates."""
    table = Table(title=f"Plan for {recipe.output.path}", title_justify="left")
    for heading in ("step", "done", "to run", "why"):
        table.add_column(heading)
    waiting = Counter(job.step.name for job in plan.jobs)
    for name in dict.fromkeys([*plan.done, *waiting]):
        why = next((job.why for job in plan.jobs if job.step.name == name), "")
        table.add_row(name, str(plan.done.get(name, 0)), str(waiting.get(name, 0)), why)
    console.print(table)
    print_curves(recipe, console)
    if not plan.jobs:
        console.print("Everything is up to date: nothing would run.")
        return
    if recipe.engine.kind != "local":
        print_cluster_jobs(recipe, plan, console)
    stage = plan.jobs[0].step.name.split("/")[0]
    console.print(f"What comes after {stage} is known when {stage} is done: steps whose input stays equal do not run.")
    text_bytes = plan.input_bytes * _expansion(recipe)
    seconds = _START_SECONDS + sum(
        text_bytes / 1e6 / speed / max(plan.workers, 1) for speed in _MB_PER_SECOND_PER_WORKER.values()
    )
    disk_bytes = text_bytes * _DISK_PER_TEXT_BYTE
    memory_bytes = min(recipe.engine.memory, (plan.workers + 1) * WORKER_BYTES)
    console.print(
        f"Input: {show_bytes(plan.input_bytes)}, about {show_bytes(text_bytes)} of text.\n"
        f"Estimate for all of it, good to a factor of two: {show_seconds(seconds)} with {plan.workers} workers, "
        f"at most {show_bytes(memory_bytes)} of memory, {show_bytes(disk_bytes)} of disk "
        f"({show_bytes(_free_bytes(place_of(recipe).local))} free).",
        highlight=False,
    )


def _expansion(recipe: Recipe) -> float:
    paths = [source.files or "" for source in recipe.sources]
    compressed = [path for path in paths if path.endswith(_COMPRESSED)]
    return _TEXT_PER_INPUT_BYTE["compressed" if compressed else "plain"]


def _free_bytes(path: Path) -> int:
    while not path.exists() and path != path.parent:
        path = path.parent
    return shutil.disk_usage(path).free

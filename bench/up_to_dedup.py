"""A recipe, carried out up to and with `dedup`: what benchmarks of deduplication run.

    python bench/up_to_dedup.py RECIPE

Prints the ledger's entries of `dedup`, and the seconds of each step's tasks.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import ClassVar

from gristmill import drive
from gristmill.engine.ledger import Ledger
from gristmill.engine.local import Job, LocalEngine
from gristmill.engine.pool import worker_count
from gristmill.engine.record import Record
from gristmill.recipe import Recipe


class Watch(drive.Silent):
    """Adds up the seconds of tasks."""

    seconds: ClassVar[Counter[str]] = Counter()

    def finished(self, job: Job, record: Record) -> None:
        """Of one step, whatever the source."""
        self.seconds["/".join(job.step.name.split("/")[:2])] += record.seconds


def main() -> None:
    recipe = Recipe.from_yaml(sys.argv[1])
    output, watch, ledger = Path(recipe.output.path), Watch(), Ledger()
    workers = worker_count(recipe.engine.workers, recipe.engine.memory)
    with LocalEngine(output, workers, watch) as engine:
        engine.begin(drive.FIRST_WORK)
        from gristmill.route.steps import steps_of  # as `gristmill run` does: while workers start

        route = steps_of(recipe, output, workers, ledger)
        steps = next(route)
        while not steps[0].name.startswith("token"):
            steps = route.send(engine.run(steps))
    for entry in ledger.of("dedup"):
        print(f"{entry.source}: {entry.entered:,} documents, {entry.left:,} left, gone {entry.gone}, {entry.details}")
    for step, seconds in watch.seconds.items():
        print(f"  {step:28} {seconds:8.1f} s of tasks")


if __name__ == "__main__":
    main()

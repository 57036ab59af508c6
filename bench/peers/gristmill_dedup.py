"""Our side of bench/dedup.py: sift, deduplicate, write what is left as Parquet, in worker processes.

python gristmill_dedup.py OUTPUT WORKERS MEMORY DEDUP_AS_JSON FILE...
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from gristmill.drive import FIRST_WORK, Silent
from gristmill.engine.ledger import Ledger
from gristmill.engine.local import LocalEngine
from gristmill.engine.pool import worker_count
from gristmill.engine.step import Step, Task
from gristmill.quantities import parse_bytes
from gristmill.recipe import Recipe


def main() -> None:
    output, workers, memory, dedup, *files = sys.argv[1:]
    recipe = Recipe.from_dict(
        {
            "sources": [{"name": f"s{number:04}", "path": path} for number, path in enumerate(files)],
            "dedup": json.loads(dedup),
            "tokenizer": {"train": {"vocab_size": 300}},
            "pack": {"sequence_length": 2048},
            "output": {"path": output, "chunk": "16MB"},  # so that workers end together
            "engine": {"workers": int(workers), "memory": memory},
        }
    )
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    ledger = Ledger()
    count = worker_count(int(workers), parse_bytes(memory))
    with LocalEngine(folder, count, Silent()) as engine:
        engine.begin(FIRST_WORK)
        from gristmill.route.steps import steps_of  # as `gristmill run` does: while workers start

        route = steps_of(recipe, folder, count, ledger)
        steps = next(route)
        while steps[0].name.split("/")[0] in ("sift", "judge", "dedup"):
            steps = route.send(engine.run([replace(step, meanwhile="") for step in steps]))  # no tokenizer to load
        [training] = steps  # the first step behind dedup knows where the chunks that are left lie
        tasks = [
            Task(f"{number:05}", {"chunk": number}, chunk) for number, chunk in enumerate(training.tasks[0].work.chunks)
        ]
        [records] = engine.run([Step("filtered", "write_left:write", 1, {}, tasks)])
    print(json.dumps({"left": sum(record.counts["documents"] for record in records),
                      "gone": sum(sum(entry.gone.values()) for entry in ledger.of("dedup"))}))  # fmt: skip


if __name__ == "__main__":
    main()

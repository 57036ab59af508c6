"""One side of bench/filters.py: a fresh process that starts others, each of which judges its share of the documents.

    python -m peers.filter_side JOB.json

Each process loads its documents, imports what it needs, makes its filters and judges one tiny text (kernels and models
are loaded then, no words are known yet). When all are ready, all begin. The result, beside the job: seconds from the
start of this program until all were ready; seconds from then until the last one was done; documents kept.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BATCH_BYTES = 8_000_000  # of text, as sift's batches
TINY = "A text."


def unit(target: str, parameters: dict[str, Any]) -> Any:
    """The class `module:Class`, with these parameters."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)(**parameters)


def rows(job: dict[str, Any]) -> list[Any]:
    """The job's rows of filter_parity.ROWS, with parameters of its own."""
    import filter_parity

    known = {row.name: row for row in filter_parity.ROWS}
    return [
        dataclasses.replace(
            known[name],
            parameters={**known[name].parameters, **own["ours"]},
            their_parameters={**known[name].their_parameters, **own["theirs"]},
        )
        for name, own in job["filters"].items()
    ]


def our_judge(job: dict[str, Any]) -> Callable[[Any], int]:
    """Takes a column of texts; measures and judges as sift does, a batch at a time; returns how many it keeps."""
    import pyarrow as pa

    from gristmill.filters.sequence import FilterSequence, verdicts_of
    from gristmill.filters.view import TextView

    sequence = FilterSequence([unit(row.ours, row.parameters) for row in rows(job)])

    def judge(texts: Any) -> int:
        signals, _ = sequence.measure(TextView(texts), lambda name: texts)
        return int(verdicts_of(pa.nulls(len(texts), pa.string()), sequence.broken_rules(signals)).null_count)

    return judge


def their_judge(job: dict[str, Any]) -> Callable[[list[str]], int]:
    """Takes texts; passes them through datatrove's filters as its executor does; returns how many come out."""
    from datatrove.data import Document

    filters = []
    for row in rows(job):
        row.prepare()
        filters.append(unit(row.theirs, row.their_parameters))

    def judge(texts: list[str]) -> int:
        documents: Any = (Document(text=text, id="") for text in texts)
        for one in filters:
            documents = one.run(documents)
        return sum(1 for _ in documents)

    return judge


def batches(texts: Any) -> list[Any]:
    """A column of texts in pieces of BATCH_BYTES."""
    import numpy as np

    from gristmill.document import buffers

    offsets = buffers(texts)[0]
    cuts = np.unique(np.searchsorted(offsets, np.arange(offsets[0], offsets[-1], BATCH_BYTES)))
    stops = [*cuts[1:], len(texts)]
    return [texts.slice(start, stop - start) for start, stop in zip(cuts, stops, strict=True)]


def work(job: dict[str, Any], number: int, barrier: Any, answers: Any) -> None:
    """One process: every so-manieth document."""
    import pyarrow as pa

    with pa.memory_map(job["documents"]) as file:
        texts = pa.ipc.open_file(file).read_all()["text"].combine_chunks()
        texts = texts.take(pa.array(range(number, len(texts), job["processes"])))
    mine: list[Any]
    if job["side"] == "ours":
        judge, mine = our_judge(job), batches(texts)
        judge(pa.array([TINY], pa.large_string()))
    else:
        judge, mine = their_judge(job), [texts.to_pylist()]
        judge([TINY])
    barrier.wait()
    started = time.perf_counter()
    kept = sum(judge(batch) for batch in mine)
    answers.put((started, time.perf_counter(), kept))


def main(file: Path) -> None:
    """Run the job, write the result beside it."""
    begun = time.perf_counter()
    job = json.loads(file.read_text())
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(job["processes"]), context.Queue()
    workers = [context.Process(target=work, args=(job, n, barrier, answers)) for n in range(job["processes"])]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        if worker.exitcode:
            sys.exit(f"a process ended with {worker.exitcode}")
    started, ended, kept = zip(*(answers.get() for _ in workers), strict=True)
    result = {"start_seconds": min(started) - begun, "seconds": max(ended) - min(started), "kept": sum(kept)}
    file.with_suffix(".result").write_text(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

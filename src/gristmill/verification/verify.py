"""All checks of a finished run, or of a training set that `export` or `tokenize` wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gristmill.errors import GristmillError
from gristmill.export import HIDDEN, SET_FILE
from gristmill.finished import require_output
from gristmill.verification import ids, kept_documents, packed_spans
from gristmill.verification.books import check_ledger
from gristmill.verification.check import READABLE, Check, Lookers
from gristmill.verification.ids import IdsWork
from gristmill.verification.packed_spans import WindowWork
from gristmill.verification.recorded_files import check_files, check_manifests
from gristmill.verification.run_folder import RunFolder
from gristmill.verification.training_set import verify_training_set

_MOST_SAMPLED_CHUNKS = 64
_FEW_TOKENS = 4_000_000


def verify(folder: Path, sample: int | None, workers: int) -> list[Check]:
    """The checks of whatever lies in the folder. Raises ResumeError where it is nothing that was finished."""
    if (folder / HIDDEN / SET_FILE).is_file():
        return verify_training_set(folder, sample, workers)
    return verify_run(require_output(folder, "ledger.json"), sample, workers)


def verify_run(output: Path, sample: int | None, workers: int) -> list[Check]:
    """The checks of a run, in the order of the route. `sample`: encode so many documents again, instead of all.

    What depends on a file that is damaged cannot be checked: it is counted among what cannot be read, and the file
    among those whose checksum differs.
    """
    run = RunFolder(output)
    packed_spans.forget_files()
    files = check_files(output, workers)
    try:
        windows, sampled = _windows(run), _sampled(run, sample)
    except GristmillError as error:  # a record is not there, or damaged: what it speaks of cannot be named
        unreadable = Check(READABLE, "tasks", checked=1)
        unreadable.fails(str(error).split("\n", 1)[0])
        return [files, unreadable]
    if sum(chunk.tokenized.counts["tokens"] for chunk in run.chunks) < _FEW_TOKENS:
        workers = 1  # starting others would take longer
    with Lookers(workers) as lookers:
        return [
            files,
            *lookers.look(check_ledger, [run]),
            *lookers.look(kept_documents.check_chunk, run.chunks),
            *lookers.look(ids.check_ids, sampled),
            *lookers.look(packed_spans.check_window, windows),
            check_manifests(run),
            lookers.readable,
        ]


def _windows(run: RunFolder) -> list[WindowWork]:
    return [
        WindowWork(
            str(stage.plan), number, str(stage.folder / record.files[0].path), stage.manifest.layout, run.shards,
            sum(record.counts["cropped_tokens"]),
        )
        for stage in run.stages
        for number, record in enumerate(stage.records)
    ]  # fmt: skip


def _sampled(run: RunFolder, sample: int | None) -> list[IdsWork]:
    """All chunks with all their documents; or chunks evenly spread, with an even share of the sample each."""
    chunks = [chunk for chunk in run.chunks if chunk.tokenized.counts["docs"] + chunk.tokenized.counts["short_docs"]]
    if sample is None:
        return [IdsWork(chunk, run.spec, None) for chunk in chunks]
    count = min(len(chunks), sample, _MOST_SAMPLED_CHUNKS)
    chosen = np.unique(np.linspace(0, len(chunks) - 1, count).astype(int))
    return [
        IdsWork(chunks[at], run.spec, sample * (number + 1) // len(chosen) - sample * number // len(chosen))
        for number, at in enumerate(chosen)
    ]

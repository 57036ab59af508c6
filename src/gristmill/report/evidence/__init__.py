"""The evidence of a finished run, as one plain document: what the page shows, gathered from the output folder.

What enters: an output folder. What leaves: a map of plain values that JSON can hold, a part for each chapter of the
page. What is guaranteed: it is bounded whatever the corpus (a bounded number of rows is looked at, of texts read, of
samples kept; the part `seen` says how many), it is drawn by hashes of places and so the same each time, and nothing in
the folder is touched. Exact counts come from the ledger; what is only counted in the chunks looked at says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gristmill import __version__
from gristmill.engine.pandas_left_out import pandas_hidden
from gristmill.report.evidence import clusters, funnel, judged, languages, lengths, packing, rules, samples, timing
from gristmill.report.evidence.folder import RunFolder
from gristmill.report.evidence.texts import TextStore

Evidence = dict[str, Any]


def gather(output: Path) -> Evidence:
    """Everything, with samples of texts. Raises ResumeError where the folder is no finished run's."""
    run = RunFolder.open(output)
    texts = TextStore(output)
    with pandas_hidden():
        chunks = judged.judged_chunks(run)
        return {
            **_numbers(run, chunks),
            "samples": samples.samples(run, chunks, texts),
            "duplicates": clusters.duplicates(run, texts),
        }


def gather_numbers(output: Path) -> Evidence:
    """The same without texts: for comparing runs."""
    run = RunFolder.open(output)
    return _numbers(run, judged.judged_chunks(run))


def _numbers(run: RunFolder, chunks: list[judged.JudgedChunk]) -> Evidence:
    return {
        "version": __version__,
        "name": run.name,
        "recipe": run.recipe_text,
        "sources": run.sources,
        "seen": judged.seen(run, chunks),
        "funnel": funnel.funnel(run.ledger),
        "rules": rules.rules(run.ledger),
        "bounds": rules.bounds(chunks),
        "languages": languages.languages(chunks),
        "mixture": funnel.mixture(run.ledger),
        "lengths": lengths.lengths(run, chunks),
        "packing": packing.packing(run),
        "timing": timing.timing(run.output),
    }

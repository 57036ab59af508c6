"""How far our filters and datatrove's agree on a sample of a recipe's input.

What enters: a recipe and how many documents to look at. What leaves: for each filter, how many documents both judged
and every one on which they differ. Each filter sees the texts as those before it left them, also dropped ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill import sources
from gristmill.cleaning.sequence import CleanerSequence
from gristmill.filters.datatrove_judge import UNNAMED, Judge, judge_of
from gristmill.filters.filter import Filter, RewritingFilter
from gristmill.filters.view import TextView
from gristmill.recipe import Recipe, Source
from gristmill.route import sift
from gristmill.units import OURS

_PLACES = 16  # chunks of a source that the sample is taken from, evenly


@dataclass(frozen=True)
class Difference:
    """One document on which the two differ."""

    source: str
    id: str
    ours: str | None
    theirs: str | None  # the same verdict as ours where only the rewritten texts differ


@dataclass
class Agreement:
    """One filter's account. `documents` is 0 where datatrove has no filter like it."""

    name: str
    documents: int = 0
    differences: list[Difference] = field(default_factory=list)


def compare(recipe: Recipe, sample: int) -> list[Agreement]:
    """Judge about `sample` documents, evenly from all sources, by both."""
    found: dict[str, Agreement] = {}
    share = -(-sample // len(recipe.sources))
    for source in recipe.sources:
        choices = [choice.judged_by(OURS) for choice in recipe.filters_of(source)]
        filters: list[Filter] = [choice.make("filter") for choice in choices]
        judges = [judge_of(unit) for unit in filters]
        agreements = [found.setdefault(repr(choice), Agreement(choice.name)) for choice in choices]
        for batch in _sample(recipe, source, share):
            _compare_batch(source.name, batch, filters, judges, agreements)
    return list(found.values())


def _sample(recipe: Recipe, source: Source, wanted: int) -> Iterator[Any]:
    """Batches of readable, cleaned, non-empty documents with the columns id, text, metadata: `wanted` in all."""
    chunks = sift.chunks_of(source, recipe.output.chunk, recipe.output.tasks)
    columns = sift.columns_of(recipe, source)
    cleaners = CleanerSequence([choice.make("cleaner") for choice in sift.cleaners_of(recipe)])
    chosen = [chunks[at] for at in np.unique(np.linspace(0, len(chunks) - 1, min(_PLACES, len(chunks))).astype(int))]
    for number, chunk in enumerate(chosen):
        left = wanted * (number + 1) // len(chosen) - wanted * number // len(chosen)
        for batch in sources.read(chunk, columns):
            good = batch.filter(pc.is_null(batch["unreadable"]))
            texts, empty = cleaners.clean(good["text"])
            ids = pc.coalesce(good["id"], pa.scalar("without id", pa.large_string()))
            cleaned = pa.record_batch({"id": ids, "text": texts, "metadata": good["metadata"]})
            cleaned = cleaned.filter(pc.is_null(empty)).slice(0, left)
            left -= len(cleaned)
            yield cleaned
            if left == 0:
                break


def _compare_batch(
    source: str, batch: Any, filters: list[Filter], judges: list[Judge | None], agreements: list[Agreement]
) -> None:
    view = TextView(batch["text"])
    metadata = [json.loads(text or "{}") for text in batch["metadata"].to_pylist()]
    for unit, judge, agreement in zip(filters, judges, agreements, strict=True):
        left = unit.rewritten_view(view) if isinstance(unit, RewritingFilter) else view
        if judge is not None:
            of_unit = (
                view
                if unit.column() == "text"
                else TextView(sift.column_of({name: batch[name] for name in batch.schema.names}, unit.column()))
            )
            ours = unit.judge(unit.measure(of_unit)).to_pylist()
            rows = zip(batch["id"].to_pylist(), view.texts.to_pylist(), left.texts.to_pylist(), metadata, strict=True)
            for our_verdict, (id_, text, our_text, of_document) in zip(ours, rows, strict=True):
                verdict, their_text = judge.verdict(text, of_document)
                agreement.documents += 1
                same = verdict == our_verdict or (verdict == UNNAMED and our_verdict is not None)
                if not same or (our_verdict is None and our_text != their_text):
                    agreement.differences.append(Difference(source, id_, our_verdict, verdict))
        view = left

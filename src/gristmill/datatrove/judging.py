"""What the filters have in common: datatrove's `BaseFilter.run`, a batch at a time.

What enters and leaves: documents. What a subclass says: `judge(batch)`, the verdict on each document: None to keep it,
else datatrove's reason, or NO_REASON. Documents are counted, written and passed on in their order; a text that UTF-8
cannot hold, and all where `judge` is not possible with these arguments, are judged by datatrove's `filter`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from datatrove.utils.logging import logger

from gristmill.datatrove import stats
from gristmill.datatrove.batches import batches, column_of
from gristmill.filters.filter import Filter, RewritingFilter
from gristmill.filters.view import TextView

NO_REASON = ""
Verdicts = list[str | None]


class JudgesBatches:
    """Stands before datatrove's filter among the bases of a class."""

    exclusion_writer: Any
    track_time: Callable[..., Any]
    filter: Callable[[Any], Any]

    def judge(self, batch: list[Any], texts: Any) -> Verdicts:
        """A verdict for each document of the batch, whose texts are this column."""
        raise NotImplementedError

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yields what is kept."""
        with self.exclusion_writer or contextlib.nullcontext() as writer:
            for batch in batches(data):
                with self.track_time("batch"):
                    verdicts = self._verdicts(batch)
                self._count(batch, verdicts)
                for document, verdict in zip(batch, verdicts, strict=True):
                    if verdict is None:
                        yield document
                    elif writer is not None:
                        if verdict != NO_REASON:
                            document.metadata["filter_reason"] = verdict
                        writer.write(document, rank)

    def _verdicts(self, batch: list[Any]) -> Verdicts:
        texts = column_of([document.text for document in batch])
        return self.judge_each(batch) if texts is None else self.judge(batch, texts)

    def judge_each(self, batch: list[Any]) -> Verdicts:
        """As datatrove does it."""
        return [_verdict(self.filter(document)) for document in batch]

    def _count(self, batch: list[Any], verdicts: Verdicts) -> None:
        kept = [document for document, verdict in zip(batch, verdicts, strict=True) if verdict is None]
        stats.count(self, "total", len(batch))
        stats.count(self, "forwarded", len(kept))
        stats.count(self, "dropped", len(batch) - len(kept))
        stats.add_lengths(self, kept)
        for verdict in verdicts:
            if verdict:
                self.stat_update(f"dropped_{verdict}")  # type: ignore[attr-defined]


class JudgesByUnit(JudgesBatches):
    """Of which one of our filters gives the verdicts."""

    _made: Filter | None = None
    _is_made = False

    def make_unit(self) -> Filter:
        """Our filter with the block's parameters. Raises ValueError for those that it cannot have."""
        raise NotImplementedError

    def unit(self) -> Filter | None:
        """Our filter, made when the first batch comes; None where datatrove's has to do."""
        if not self._is_made:
            self._is_made = True
            try:
                self._made = self.make_unit()
            except ValueError as error:
                logger.warning(f"{self!r} judges one document at a time, as datatrove's own does: {error}")
        return self._made

    def judge(self, batch: list[Any], texts: Any) -> Verdicts:
        """By the unit; kept documents have the text that it leaves."""
        unit = self.unit()
        if unit is None:
            return self.judge_each(batch)
        view = TextView(texts)
        skip = len(unit.NAME) + 1
        verdicts = [
            None if verdict is None else verdict[skip:] for verdict in unit.judge(unit.measure(view)).to_pylist()
        ]
        if isinstance(unit, RewritingFilter):
            for document, verdict, text in zip(batch, verdicts, unit.rewritten(view).to_pylist(), strict=True):
                if verdict is None:
                    document.text = text
        self.note(view, unit)
        return verdicts

    def note(self, view: TextView, unit: Filter) -> None:
        """What else the block counts."""


def _verdict(result: Any) -> str | None:
    kept, reason = result if isinstance(result, tuple) else (result, None)
    return None if kept else reason or NO_REASON

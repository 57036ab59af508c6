"""datatrove's counters, fed with many values at once: afterwards they hold what as many single updates leave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def count(step: Any, label: str, times: int) -> None:
    """As `times` updates by one. A label that was never counted stays unknown."""
    if times:
        add(step, label, [1] * times) if label in step.stats.stats else _begin(step, label, times)


def _begin(step: Any, label: str, times: int) -> None:
    metric = step.stats[label]
    metric.total, metric.n, metric.mean, metric.min, metric.max = times, times, 1.0, 1, 1


def add(step: Any, label: str, values: Sequence[int], unit: str | None = None) -> None:
    """As an update by each of the values. The mean and the variance run on from value to value, as datatrove's do, so
    that also the last digit is the same."""
    if not values:
        return
    metric = step.stats[label]
    if unit:
        metric.unit = unit
    n, mean, variance = metric.n, metric.mean, metric._running_variance
    for value in values:
        n += 1
        delta = value - mean
        mean += delta / n
        if n > 1:
            variance += delta * (value - mean)
    metric.n, metric.mean, metric._running_variance = n, mean, variance
    metric.total += sum(values)
    metric.min, metric.max = min(metric.min, min(values)), max(metric.max, max(values))


def add_lengths(step: Any, documents: Iterable[Any]) -> None:
    """As `update_doc_stats` for each document: characters, and tokens where somebody counted them."""
    listed = list(documents)
    add(step, "doc_len", [len(document.text) for document in listed], "doc")
    tokens = [found for document in listed if (found := document.metadata.get("token_count"))]
    add(step, "doc_len_tokens", tokens, "doc")

"""What each rule drops, and what another bound would keep.

Counts over everything are the ledger's. For the bounds, chunks looked at are counted in fine bins: of all rows, and of
those that no other rule drops. The bound is an edge of the bins, and a value on an edge lies on the kept side of it, so
what any edge would keep is exact, the interplay with all other rules included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.engine.ledger import Ledger, total
from gristmill.report.evidence.judged import JudgedChunk, Mask
from gristmill.report.signals import rule_books

MOST_BOUNDS = 200
_BINS = 64
_TAIL = 0.005  # of the rows at either end of the axis, which share a bin
_MOST_WHOLE_NUMBERS = 64  # so wide a range has a bin for each
_LOGARITHMIC_FROM = 30.0  # times as much at the end of the axis as at its beginning

Values = npt.NDArray[Any]


def rules(ledger: Ledger) -> list[dict[str, Any]]:
    """One for each rule or other reason of sift: rows that it drops (the first that they break), that break it, and
    that break no other."""
    first = total(entry.gone for entry in ledger.of("sift"))
    books = rule_books(ledger)
    found = []
    for name in [*books, *(reason for reason in sorted(first) if reason not in books)]:
        book = books.get(name)
        found.append(
            {
                "rule": name,
                "dropped": first.get(name, 0),
                "broken": first.get(name, 0) if book is None else book.broken,
                "alone": None if book is None else book.alone,
            }
        )
    return found


@dataclass
class _Bound:
    rule: str
    signal: str
    side: str  # "minimum" or "maximum"
    at: float
    sources: list[str] = field(default_factory=list)
    values: list[Values] = field(default_factory=list)
    spared: list[Mask] = field(default_factory=list)  # rows that nothing else drops
    broken: list[Mask] = field(default_factory=list)


def bounds(chunks: Sequence[JudgedChunk]) -> list[dict[str, Any]]:
    """One for each side of each rule that bounds a signal; where sources have bounds of their own, one for each. Those
    that drop most first, and no more than MOST_BOUNDS."""
    found: dict[tuple[str, str, float], _Bound] = {}
    for chunk in chunks:
        times = chunk.times_broken
        broken = dict(chunk.broken)
        for name, rule in chunk.bounds.items():
            values = np.asarray(chunk.signals[rule.signal])
            others = times - broken[name] == 0
            sides = {"minimum": rule.minimum, "maximum": rule.maximum}
            for side, at in sides.items():
                if at is None:
                    continue
                other = next((bound for that, bound in sides.items() if that != side and bound is not None), None)
                spared = others
                if other is not None:
                    spared = others & (values <= other if side == "minimum" else values >= other)
                bound = found.setdefault((name, side, at), _Bound(name, rule.signal, side, at))
                if chunk.chunk.source not in bound.sources:
                    bound.sources.append(chunk.chunk.source)
                bound.values.append(values)
                bound.spared.append(spared)
                bound.broken.append(broken[name])
    ranked = sorted(found.values(), key=lambda bound: -sum(int(broken.sum()) for broken in bound.broken))
    return [_counted(bound) for bound in ranked[:MOST_BOUNDS]]


def _counted(bound: _Bound) -> dict[str, Any]:
    values = np.concatenate(bound.values).astype(np.float64)
    spared, broken = np.concatenate(bound.spared), np.concatenate(bound.broken)
    number = ~np.isnan(values)
    edges, scale = _edges(values[number], bound.at)
    # A value on an edge is kept by it: below a maximum, above a minimum.
    bins = np.searchsorted(edges, values, side="left" if bound.side == "maximum" else "right")
    at = int(np.flatnonzero(edges == bound.at)[0])
    outside = bins > at if bound.side == "maximum" else bins <= at
    return {
        "rule": bound.rule,
        "signal": bound.signal,
        "side": bound.side,
        "bound": bound.at,
        "sources": bound.sources,
        "edges": [float(f"{edge:.7g}") for edge in edges],
        "at": at,
        "scale": scale,
        "whole": bool((values[number] == np.floor(values[number])).all()),
        "all": np.bincount(bins[number], minlength=len(edges) + 1).tolist(),
        "spared": np.bincount(bins[number & spared], minlength=len(edges) + 1).tolist(),
        "missing": int((~number).sum()),
        "exact": bool(((outside | ~number)[spared] == broken[spared]).all()),
    }


def _edges(values: Values, at: float) -> tuple[npt.NDArray[np.float64], str]:
    """Edges at even distances, for numbers that are far apart on a logarithmic axis; the bound is one of them."""
    low, high = (float(end) for end in np.quantile(values, [_TAIL, 1 - _TAIL])) if len(values) else (at, at)
    low, high = min(low, at), max(high, at)
    whole = at == np.floor(at) and bool((values == np.floor(values)).all())
    if whole and high - low <= _MOST_WHOLE_NUMBERS:
        return np.arange(low, high + 2), "linear"
    if whole and at > 0 and high > _LOGARITHMIC_FROM * max(low, 1.0):
        step = np.log(high / max(low, 1.0)) / _BINS
        return np.unique(np.round(at * np.exp(step * _around(np.log([max(low, 1.0), at, high]), step)))), "logarithmic"
    step = _round_step((high - low) / _BINS) if high > low else 1.0
    edges = at + step * _around(np.array([low, at, high]), step)
    edges = edges[(edges > -step / 1e6) | (low < 0)]  # what is never negative has no axis below zero
    return np.where((np.abs(edges) < step / 1e6) & (edges != at), 0.0, edges), "linear"


def _round_step(step: float) -> float:
    """The next larger of 1, 2, 2.5 and 5, times a power of ten."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= step * 0.999))


def _around(axis: npt.NDArray[np.float64], step: float) -> npt.NDArray[np.float64]:
    """The steps from low, to high, counted from the place between them."""
    low, place, high = axis
    return np.arange(-np.ceil((place - low) / step), np.ceil((high - place) / step) + 1)

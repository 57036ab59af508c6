"""What the filters measured: the signal of each rule and its distribution, the bound, and what the rule drops."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gristmill.engine.ledger import Ledger, total
from gristmill.filters.histogram import Bins, bins_of, quantile

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 24  # characters of a picture


@dataclass
class RuleBook:
    """One rule over all sources."""

    signal: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    broken: int = 0  # documents that break it
    alone: int = 0  # documents that break no other rule
    histogram: dict[str, int] = field(default_factory=dict)


def rule_books(ledger: Ledger) -> dict[str, RuleBook]:
    """The rules of all filters, in the order in which they are tried."""
    books: dict[str, RuleBook] = {}
    for entry in ledger.of("sift"):
        for name, counts in entry.details.get("rules", {}).items():
            book = books.setdefault(name, RuleBook())
            book.broken += counts["broken"]
            book.alone += counts["alone"]
            bound = entry.details["bounds"].get(name)
            if bound is not None:
                book.signal, book.minimum, book.maximum = bound
                book.histogram = total([book.histogram, entry.details["histograms"].get(bound[0], {})])
    return books


def print_signals(ledger: Ledger, console: Console) -> None:
    """A row for each rule; nothing where the run has no filters."""
    books = rule_books(ledger)
    if not books:
        return
    table = Table(title="Rules: what each drops, and what it looks at", title_justify="left")
    table.add_column("rule", overflow="fold")
    for heading in ("drops", "alone", "keeps", "5 %", "median", "95 %"):
        table.add_column(heading, justify="right")
    table.add_column("distribution (dropped in red)", min_width=_WIDTH, no_wrap=True)
    for name, book in books.items():
        bins = bins_of(book.histogram)
        quantiles = [_number(quantile(bins, share)) for share in (0.05, 0.5, 0.95)]
        cells = [f"{book.broken:,}", f"{book.alone:,}", _bounds(book), *(quantiles if book.signal else ["", "", ""])]
        table.add_row(name, *cells, _picture(bins, book.minimum, book.maximum))
    console.print(table)


def _bounds(book: RuleBook) -> str:
    if book.minimum is not None and book.maximum is not None:
        return f"{_number(book.minimum)} to {_number(book.maximum)}"
    if book.minimum is not None:
        return f"from {_number(book.minimum)}"
    return "" if book.maximum is None else f"to {_number(book.maximum)}"


def _number(value: float) -> str:
    if np.isnan(value):
        return "none"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _picture(bins: Bins, minimum: float | None, maximum: float | None) -> Text:
    """Bars over the axis of the bins, which is logarithmic; where all that lies under a bar is dropped, it is red."""
    text = Text()
    if not len(bins.place):
        return text
    first, last = int(bins.place[0]), int(bins.place[-1])
    columns = (bins.place - first) * _WIDTH // (last - first + 1)
    heights = np.bincount(columns, bins.values, _WIDTH)
    outside = np.zeros(len(bins.edge), np.bool_)
    outside |= minimum is not None and bins.edge < minimum
    outside |= maximum is not None and bins.edge > maximum
    for column in range(_WIDTH):
        inside = columns == column
        style = "red" if inside.any() and outside[inside].all() else "green"
        text.append(_bar(heights[column], heights.max()), style)
    return text


def _bar(height: float, highest: float) -> str:
    if height == 0:
        return " "
    return _BARS[min(int(height / highest * len(_BARS)), len(_BARS) - 1)]

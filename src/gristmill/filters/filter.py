"""What a filter is: measure, then judge.

`measure(view)` gives signals, columns from one compiled pass. `rules()` is data: which signal, which bounds, which
reason. A document is kept iff min <= x <= max for every rule; the verdict is null, or the first rule broken, written
`filter.rule`. A filter opens no data, logs nothing and knows no rank. One whose rules are no bounds (a list of labels)
overrides `broken_rules`, `rule_names` and `signal_names` instead of `rules`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import large_strings
from gristmill.filters.view import TextView

Signals = dict[str, Any]  # one value a document: a numpy array of numbers, or an Arrow array of strings


@dataclass(frozen=True)
class Rule:
    """Keep iff minimum <= signal <= maximum; None leaves that side open."""

    signal: str
    minimum: float | None
    maximum: float | None
    reason: str

    def broken(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which values lie outside; NaN always does."""
        outside = np.zeros(len(values), np.bool_)
        if self.minimum is not None:
            outside |= ~(values >= self.minimum)
        if self.maximum is not None:
            outside |= ~(values <= self.maximum)
        return outside


def first_broken(rules: Sequence[tuple[str, npt.NDArray[np.bool_]]], length: int) -> Any:
    """For each document the first rule that it breaks: a string array, null = none."""
    first = np.full(length, -1, np.int32)
    for number, (_, broken) in enumerate(rules):
        first[broken & (first < 0)] = number
    names = pa.array([name for name, _ in rules], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(first, mask=first < 0), names).cast(pa.string())


class Filter:
    """Base of all filters. A filter is a frozen dataclass: its fields are the parameters."""

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1

    def column(self) -> str:
        """What it looks at: `text`, `id`, or the name of a metadata column."""
        return "text"

    def other_columns(self) -> tuple[str, ...]:
        """Metadata columns that it looks at beside `column()`, by `view.column(name)`."""
        return ()

    def measure(self, view: TextView) -> Signals:
        """Signal name → one value a document. `view` is of `column()`."""
        raise TypeError(f"{type(self).__name__} does not say how to measure")

    def rules(self) -> list[Rule]:
        """The bounds, in the order in which they are tried."""
        raise TypeError(f"{type(self).__name__} has no rules")

    def has_rules(self) -> bool:
        """Whether `rules` says all; False for a filter that overrides `broken_rules` instead."""
        return type(self).rules is not Filter.rules

    def measuring(self) -> dict[str, Any]:
        """The parameters that signals depend on. The others are bounds: when they change, saved signals are judged
        again and no text is read. A filter that says nothing here depends on all of them."""
        return dataclasses.asdict(self)  # type: ignore[call-overload,no-any-return]  # every filter is a dataclass

    def contents(self) -> dict[str, Any]:
        """Of parameters that name a file: parameter → digest of what the file holds. In fingerprints it stands for the
        path, so a list that is moved changes nothing and one that is edited does. `measuring` has to say the same."""
        return {}

    def rule_names(self) -> list[str]:
        """Every verdict this filter can give."""
        return [f"{self.NAME}.{rule.reason}" for rule in self.rules()]

    def signal_names(self) -> list[str]:
        """The signals its rules look at."""
        return list(dict.fromkeys(rule.signal for rule in self.rules()))

    def broken_rules(self, signals: Signals) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """Each rule as `filter.rule`, and which documents break it."""
        return [(f"{self.NAME}.{rule.reason}", rule.broken(signals[rule.signal])) for rule in self.rules()]

    def marks(self, text: str, reason: str) -> Sequence[tuple[int, int]]:
        """Where in a text stands what this reason drops it for: spans of characters, for people to look at. A filter
        that has nothing to point at says nothing here."""
        return ()

    def name_of(self, metadata: Mapping[str, Any]) -> str:
        """The verdict on a document that datatrove's filter like this drops without saying why; `metadata`: as that
        filter left it."""
        names = self.rule_names()
        return names[0] if len(names) == 1 else f"{self.NAME}.dropped"

    def judge(self, signals: Signals) -> Any:
        """Signals → verdicts: a string array, null = keep."""
        return first_broken(self.broken_rules(signals), len(next(iter(signals.values()))))

    def verdicts(self, texts: Any) -> Any:
        """For a list or column of texts: a string array, null = keep, else the rule that drops it."""
        return self.judge(self.measure(TextView(large_strings(texts))))

    def signals(self, texts: Any) -> Any:
        """For a list or column of texts: a table with one column a signal."""
        return pa.table(dict(self.measure(TextView(large_strings(texts)))))


class RewritingFilter(Filter):
    """A filter that also changes the texts it keeps. Filters after it see what it wrote."""

    def rewritten(self, view: TextView) -> Any:
        """The new text of every document of the view, dropped or not: a large_string array."""
        raise TypeError(f"{type(self).__name__} does not say how to rewrite")

    def rewritten_view(self, view: TextView) -> TextView:
        """What filters after it look at."""
        return view.beside(self.rewritten(view))

    def rewrite(self, texts: Any) -> Any:
        """For a list or column of texts: what becomes of each; a dropped one stays as it is."""
        view = TextView(large_strings(texts))
        return pc.if_else(pc.is_null(self.judge(self.measure(view))), self.rewritten(view), view.texts)

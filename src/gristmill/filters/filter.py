"""What a filter is: measure, then judge.

`measure(view)` gives signals, numeric columns from one compiled pass. `rules()` is data: which signal, which bounds,
which reason. A document is kept iff min <= x <= max for every rule; the verdict is null, or the first rule broken,
written `filter.rule`. A filter opens no file, logs nothing and knows no rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.document import large_strings
from gristmill.filters.view import TextView

Signals = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Rule:
    """Keep iff minimum <= signal <= maximum; None leaves that side open."""

    signal: str
    minimum: float | None
    maximum: float | None
    reason: str


class Filter:
    """Base of all filters. A filter is a frozen dataclass: its fields are the parameters."""

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1

    def measure(self, view: TextView) -> Signals:
        """Signal name → one number a document."""
        raise TypeError(f"{type(self).__name__} does not say how to measure")

    def rules(self) -> list[Rule]:
        """The bounds, in the order in which they are tried."""
        raise TypeError(f"{type(self).__name__} has no rules")

    def judge(self, signals: Signals) -> Any:
        """Signals → verdicts: a string array, null = keep."""
        length = len(next(iter(signals.values())))
        reasons: list[str] = []
        first_broken = np.full(length, -1, np.int32)
        for rule in self.rules():
            values = signals[rule.signal]
            broken = np.zeros(length, np.bool_)
            if rule.minimum is not None:
                broken |= ~(values >= rule.minimum)  # written so that NaN breaks the rule
            if rule.maximum is not None:
                broken |= ~(values <= rule.maximum)
            first_broken[broken & (first_broken < 0)] = len(reasons)
            reasons.append(f"{self.NAME}.{rule.reason}")
        indices = pa.array(first_broken, mask=first_broken < 0)
        return pa.DictionaryArray.from_arrays(indices, pa.array(reasons, pa.string())).cast(pa.string())

    def verdicts(self, texts: Any) -> Any:
        """For a list or column of texts: a string array, null = keep, else the rule that drops it."""
        return self.judge(self.measure(TextView(large_strings(texts))))

    def signals(self, texts: Any) -> Any:
        """For a list or column of texts: a table with one column a signal."""
        return pa.table(dict(self.measure(TextView(large_strings(texts)))))

"""All filters of a recipe as one: measured in order, judged together.

What enters: columns of documents. What leaves: signals of all filters, and the texts as the last rewriting filter left
them. Every filter measures every document, also one that an earlier filter drops: so each rule knows whom it alone
drops, and a changed bound needs no text. The second filter of a kind is called `regex_2`, its rules `regex_2.REASON`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.filters.filter import Filter, RewritingFilter, Rule, Signals, first_broken
from gristmill.filters.view import TextView

BYTES = "bytes"  # the signal that all sequences have: of the text that is left
PART_BYTES = 1 << 19  # of text that is measured at once: larger arrays would be fresh memory for every part
LEFT_NOTHING = "filters.left_nothing"  # the verdict on a text that rewriting emptied


class FilterSequence:
    """Some filters, in order."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        seen: Counter[str] = Counter()
        self._filters: list[tuple[str, Filter]] = []
        for unit in filters:
            seen[unit.NAME] += 1
            self._filters.append((f"{unit.NAME}_{seen[unit.NAME]}" if seen[unit.NAME] > 1 else unit.NAME, unit))

    def measure(self, view: TextView, column: Callable[[str], Any]) -> tuple[Signals, TextView]:
        """Signals of the texts in `view`, and the texts that are left. `column(name)` gives other columns of the
        same documents, as large_string arrays."""
        whole = TextView(view.texts, column)
        measured = [self._measure_part(part) for part in whole.parts(PART_BYTES)]
        signals = {name: _end_to_end([signals[name] for signals, _ in measured]) for name in measured[0][0]}
        if not self._rewrites():
            return signals, whole
        return signals, whole.beside(_end_to_end([left.texts for _, left in measured]))

    def _measure_part(self, view: TextView) -> tuple[Signals, TextView]:
        signals: Signals = {}
        for name, unit in self._filters:
            of_unit = view if unit.column() == "text" else view.beside(view.column(unit.column()))
            measured = unit.measure(of_unit)
            signals.update({_renamed(signal, unit.NAME, name): values for signal, values in measured.items()})
            if isinstance(unit, RewritingFilter):
                view = unit.rewritten_view(view)
        return {BYTES: view.lengths_bytes, **signals}, view

    def signal_names(self) -> list[str]:
        """The signals that rules look at."""
        names = [_renamed(signal, unit.NAME, name) for name, unit in self._filters for signal in unit.signal_names()]
        return list(dict.fromkeys([BYTES, *names]))

    def rule_names(self) -> list[str]:
        """Every verdict that can be given."""
        names = [_renamed(rule, unit.NAME, name) for name, unit in self._filters for rule in unit.rule_names()]
        return [*names, *([LEFT_NOTHING] if self._rewrites() else [])]

    def bounds(self) -> dict[str, Rule]:
        """The rules that bound a signal, by the verdict that they give."""
        found = {}
        for name, unit in self._filters:
            for rule in unit.rules() if unit.has_rules() else ():
                signal = _renamed(rule.signal, unit.NAME, name)
                found[f"{name}.{rule.reason}"] = replace(rule, signal=signal)
        return found

    def broken_rules(self, signals: Signals) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """Each rule, in order, and which documents break it."""
        broken = []
        for name, unit in self._filters:
            own = {signal: signals[_renamed(signal, unit.NAME, name)] for signal in unit.signal_names()}
            broken += [(_renamed(rule, unit.NAME, name), which) for rule, which in unit.broken_rules(own)]
        if self._rewrites():
            broken.append((LEFT_NOTHING, np.asarray(signals[BYTES]) == 0))
        return broken

    def marks(self, text: str, verdict: str) -> Sequence[tuple[int, int]]:
        """Where in a text stands what this verdict drops it for."""
        for name, unit in self._filters:
            if verdict.startswith(f"{name}.") and unit.column() == "text":
                return unit.marks(text, verdict.removeprefix(f"{name}."))
        return ()

    def _rewrites(self) -> bool:
        return any(isinstance(unit, RewritingFilter) for _, unit in self._filters)


def _end_to_end(columns: Sequence[Any]) -> Any:
    """The parts of a column, of numpy's or Arrow's, as one."""
    if len(columns) == 1:
        return columns[0]
    return np.concatenate(columns) if isinstance(columns[0], np.ndarray) else pa.concat_arrays(columns)


def _renamed(dotted: str, old: str, new: str) -> str:
    return new + dotted.removeprefix(old)


def verdicts_of(base: Any, broken: Sequence[tuple[str, npt.NDArray[np.bool_]]]) -> Any:
    """A string array: what `base` says already, else the first broken rule, else null."""
    return pc.coalesce(base, first_broken(broken, len(base)))

"""A user's own filter, `module:Class` in a recipe: a dataclass whose fields are its parameters, in one of three forms.

    a Filter                          measure and rules, like ours
    verdicts(texts) -> verdicts       a batch at a time: a large_string array in, as many texts or nulls out
    verdict(text) -> str | None       a document at a time; `keep(text) -> bool` will do where there is one reason

What leaves: a Filter. Its verdicts are written `Class.reason`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.filters.filter import Filter, Signals
from gristmill.filters.view import TextView

_FORMS = ("verdicts", "verdict", "keep")


def adapted(unit: Any) -> Filter:
    """The unit as a Filter. Raises ValueError where it has none of the forms."""
    if isinstance(unit, Filter):
        return unit
    form = next((form for form in _FORMS if callable(getattr(unit, form, None))), None)
    if form is None:
        raise ValueError(
            f"expected a filter with a method `verdicts(texts)`, `verdict(text)` or `keep(text)`, or a subclass of "
            f"gristmill.filters.Filter, found {type(unit).__module__}:{type(unit).__qualname__}"
        )
    return _UserDefined(unit, form)


class VerdictFilter(Filter):
    """A filter whose verdicts cannot be made of numbers: they are its one signal."""

    def verdicts_in(self, view: TextView) -> Any:
        """A string array, null = keep; without the filter's name."""
        raise TypeError(f"{type(self).__name__} does not say how to judge")

    def measure(self, view: TextView) -> Signals:
        """One signal, the verdict itself: it is the unit's secret what it measured."""
        return {f"{self.NAME}.verdict": self.verdicts_in(view)}

    def signal_names(self) -> list[str]:
        """The verdict."""
        return [f"{self.NAME}.verdict"]

    def rule_names(self) -> list[str]:
        """Nobody knows before the unit has spoken."""
        return []

    def broken_rules(self, signals: Signals) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """Each reason that was given."""
        verdicts = signals[f"{self.NAME}.verdict"].cast(pa.string())
        reasons = sorted(pc.unique(verdicts).drop_null().to_pylist())
        return [
            (f"{self.NAME}.{reason}", pc.equal(verdicts, reason).fill_null(False).to_numpy(zero_copy_only=False))
            for reason in reasons
        ]


class _UserDefined(VerdictFilter):
    def __init__(self, unit: Any, form: str) -> None:
        self._unit = unit
        self._form = form
        self.NAME = type(unit).__name__  # type: ignore[misc]  # the name of this one's class
        self.VERSION = getattr(unit, "VERSION", 1)  # type: ignore[misc]

    def verdicts_in(self, view: TextView) -> Any:
        """What the unit says."""
        texts = view.texts
        method = getattr(self._unit, self._form)
        if self._form == "verdicts":
            verdicts = method(texts)
        elif self._form == "verdict":
            verdicts = [method(text) for text in texts.to_pylist()]
        else:
            verdicts = [None if method(text) else "dropped" for text in texts.to_pylist()]
        found = verdicts if isinstance(verdicts, pa.Array) else pa.array(verdicts, pa.string())
        if len(found) != len(texts):
            raise ValueError(f"expected {len(texts)} verdicts from {self.NAME}, found {len(found)}")
        return found.cast(pa.string())

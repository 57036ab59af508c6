"""Drops texts that are too short or too long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView


@dataclass(frozen=True)
class Length(Filter):
    """Length in characters (code points), words (between white space) and bytes (UTF-8), each bound included.

    Only what has a bound is measured. Dropped by `min_characters: 100`: "Short." (min_characters).
    """

    NAME: ClassVar[str] = "length"

    min_characters: int | None = None
    max_characters: int | None = None
    min_words: int | None = None
    max_words: int | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        bounds = self._bounds()
        if not bounds:
            raise ValueError("expected at least one bound, such as min_characters: 100")
        for unit, (minimum, maximum) in bounds.items():
            for bound in (minimum, maximum):
                if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool) or bound < 0):
                    raise ValueError(f"expected a whole number of {unit} from 0 up, found {bound!r}")
            if minimum is not None and maximum is not None and minimum > maximum:
                raise ValueError(f"expected min_{unit} <= max_{unit}, found {minimum} > {maximum}")

    def measuring(self) -> dict[str, Any]:
        """Which units have a bound."""
        return {"units": list(self._bounds())}

    def measure(self, view: TextView) -> Signals:
        """Signals `length.characters`, `length.words`, `length.bytes`: those that have a bound."""
        return {f"length.{unit}": getattr(view, f"lengths_{unit}") for unit in self._bounds()}

    def rules(self) -> list[Rule]:
        """`min_UNIT` and `max_UNIT` for each unit."""
        rules = []
        for unit, (minimum, maximum) in self._bounds().items():
            rules.append(Rule(f"length.{unit}", minimum, None, f"min_{unit}"))
            rules.append(Rule(f"length.{unit}", None, maximum, f"max_{unit}"))
        return [rule for rule in rules if (rule.minimum, rule.maximum) != (None, None)]

    def _bounds(self) -> dict[str, tuple[int | None, int | None]]:
        bounds = {
            "characters": (self.min_characters, self.max_characters),
            "words": (self.min_words, self.max_words),
            "bytes": (self.min_bytes, self.max_bytes),
        }
        return {unit: bound for unit, bound in bounds.items() if bound != (None, None)}

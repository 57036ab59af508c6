"""Drops texts with too few or too many characters of a kind: letters and digits, digits, capitals, blanks, marks."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView

KINDS = ("alphanumeric", "digit", "uppercase", "whitespace", "punctuation")

_OF_KIND: dict[str, Callable[[str], bool]] = {  # for marks; the kernel has Unicode's version of its own
    "alphanumeric": str.isalnum,
    "digit": str.isdigit,
    "uppercase": str.isupper,
    "whitespace": str.isspace,
    "punctuation": lambda character: unicodedata.category(character).startswith("P"),
}


@dataclass(frozen=True)
class CharacterRatio(Filter):
    """Drops a text by shares of its characters (code points), each bound included.

    Only what has a bound is looked at:

        alphanumeric   str.isalnum: letters, digits, other numbers, of any script
        digit          str.isdigit: also ² and ١
        uppercase      str.isupper, of all characters and not of the letters only
        whitespace     str.isspace: also newlines
        punctuation    Unicode's categories P*: also _ and 。, but not + or $

    with the Unicode version of kernels/data/character_classes.txt. Combining marks are characters, and none of these.
    A text without characters has no shares and is dropped. datatrove has no such filter.
    Dropped by `min_alphanumeric_ratio: 0.5`: "=== * * * ===" (min_alphanumeric_ratio).
    """

    NAME: ClassVar[str] = "character_ratio"

    min_alphanumeric_ratio: float | None = None
    max_alphanumeric_ratio: float | None = None
    min_digit_ratio: float | None = None
    max_digit_ratio: float | None = None
    min_uppercase_ratio: float | None = None
    max_uppercase_ratio: float | None = None
    min_whitespace_ratio: float | None = None
    max_whitespace_ratio: float | None = None
    min_punctuation_ratio: float | None = None
    max_punctuation_ratio: float | None = None

    def __post_init__(self) -> None:
        if not self.rules():
            raise ValueError("expected at least one bound, such as min_alphanumeric_ratio: 0.5")
        for kind in KINDS:
            minimum, maximum = self._bounds(kind)
            for bound in (minimum, maximum):
                if bound is not None and (
                    isinstance(bound, bool) or not isinstance(bound, (int, float)) or not 0 <= bound <= 1
                ):
                    raise ValueError(f"expected a share of {kind} characters from 0 to 1, found {bound!r}")
            if minimum is not None and maximum is not None and minimum > maximum:
                raise ValueError(f"expected min_{kind}_ratio <= max_{kind}_ratio, found {minimum} > {maximum}")

    def measuring(self) -> dict[str, Any]:
        """Which kinds have a bound."""
        return {"kinds": [kind for kind in KINDS if self._bounds(kind) != (None, None)]}

    def measure(self, view: TextView) -> Signals:
        """Shares, of those that have a bound."""
        from gristmill.kernels.character_counts import count_characters_by_kind

        counts = count_characters_by_kind(view.offsets, view.data)
        with np.errstate(invalid="ignore"):
            return {
                f"character_ratio.{kind}": getattr(counts, kind) / counts.characters
                for kind in self.measuring()["kinds"]
            }

    def rules(self) -> list[Rule]:
        """`min_KIND_ratio` and `max_KIND_ratio` for each kind."""
        rules = []
        for kind in KINDS:
            minimum, maximum = self._bounds(kind)
            rules.append(Rule(f"character_ratio.{kind}", minimum, None, f"min_{kind}_ratio"))
            rules.append(Rule(f"character_ratio.{kind}", None, maximum, f"max_{kind}_ratio"))
        return [rule for rule in rules if (rule.minimum, rule.maximum) != (None, None)]

    def marks(self, text: str, reason: str) -> list[tuple[int, int]]:
        """The characters of which there are too many."""
        from gristmill.filters.marking import runs_of

        side, kind, _ = reason.split("_")
        return runs_of(map(_OF_KIND[kind], text)) if side == "max" else []

    def _bounds(self, kind: str) -> tuple[float | None, float | None]:
        return getattr(self, f"min_{kind}_ratio"), getattr(self, f"max_{kind}_ratio")

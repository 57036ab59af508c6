"""Drops texts by a regular expression, decided as datatrove 0.10.1's RegexFilter decides: by Python's `re`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from gristmill.filters.aliases import also_known_as
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.regular_language import as_re2
from gristmill.filters.view import TextView


@also_known_as(regex_exp="drop")
@dataclass(frozen=True)
class Regex(Filter):
    """Drops texts in which a pattern occurs, or those in which it does not. One of these has to be given:

        drop    regex_exp   texts in which it occurs are dropped (found)
        keep                texts in which it occurs are kept, the others dropped (missing)

    A pattern is one of Python's `re`, flags inside it (`(?i)`), and occurs where `re.search` finds it. Patterns that
    describe a regular language over plain characters are looked for by RE2, a column at a time (regular_language.py
    says which, and why that is the same); others by `re`, a text at a time, in hours if they backtrack without end.
    datatrove's name is taken, too; it gives no reason.
    Dropped by `drop: "lorem ipsum"`: "lorem ipsum dolor" (found).
    """

    NAME: ClassVar[str] = "regex"

    drop: str | None = None
    keep: str | None = None

    def __post_init__(self) -> None:
        given = [pattern for pattern in (self.drop, self.keep) if pattern is not None]
        if len(given) != 1 or not isinstance(given[0], str):
            raise ValueError(f"expected a pattern to drop or to keep, found drop: {self.drop!r}, keep: {self.keep!r}")
        try:
            re.compile(given[0])
        except re.error as error:
            raise ValueError(f"expected a regular expression, found {given[0]!r}: {error}") from error

    def measuring(self) -> dict[str, Any]:
        """The pattern."""
        return {"pattern": self._pattern()}

    def measure(self, view: TextView) -> Signals:
        """Whether it occurs."""
        return {"regex.occurs": _occurs(self._pattern(), view).astype(np.int8)}

    def rules(self) -> list[Rule]:
        """One."""
        if self.drop is not None:
            return [Rule("regex.occurs", None, 0, "found")]
        return [Rule("regex.occurs", 1, None, "missing")]

    def marks(self, text: str, reason: str) -> list[tuple[int, int]]:
        """Where the pattern occurs."""
        return [match.span() for match in re.finditer(self._pattern(), text)]

    def _pattern(self) -> str:
        pattern = self.keep if self.drop is None else self.drop
        assert pattern is not None
        return pattern


def _occurs(pattern: str, view: TextView) -> npt.NDArray[np.bool_]:
    of_re2 = _of_re2(pattern)
    if of_re2 is not None:
        found: npt.NDArray[np.bool_] = pc.match_substring_regex(view.texts, of_re2).to_numpy(zero_copy_only=False)
        return found
    search = re.compile(pattern).search
    return np.fromiter((search(text) is not None for text in view.texts.to_pylist()), np.bool_, len(view))


@lru_cache(maxsize=16)
def _of_re2(pattern: str) -> str | None:
    return as_re2(pattern)

"""Documents that do not look like prose: Gopher's quality rules, decided as datatrove 0.10.1 decides them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gristmill.filters.aliases import also_known_as
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView
from gristmill.filters.words import DEFAULT, check_splitter

if TYPE_CHECKING:
    from gristmill.kernels.quality import StopWords

STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")

# Field, what of the signal it bounds, the signal, datatrove's reason; in datatrove's order.
_RULES = (
    ("min_words", "minimum", "non_symbol_words", "gopher_short_doc"),
    ("max_words", "maximum", "non_symbol_words", "gopher_long_doc"),
    ("min_average_word_length", "minimum", "average_word_length", "gopher_below_avg_threshold"),
    ("max_average_word_length", "maximum", "average_word_length", "gopher_above_avg_threshold"),
    ("max_symbol_word_ratio", "maximum", "hash_word_ratio", "gopher_too_many_hashes"),
    ("max_symbol_word_ratio", "maximum", "ellipsis_word_ratio", "gopher_too_many_ellipsis"),
    ("max_bullet_lines_ratio", "maximum", "bullet_lines_ratio", "gopher_too_many_bullets"),
    ("max_ellipsis_lines_ratio", "maximum", "ellipsis_lines_ratio", "gopher_too_many_end_ellipsis"),
    ("min_alphabetic_words_ratio", "minimum", "alphabetic_words_ratio", "gopher_below_alpha_threshold"),
    ("min_stop_words", "minimum", "stop_words", "gopher_enough_stop_words"),
)


@also_known_as(
    min_doc_words="min_words",
    max_doc_words="max_words",
    min_avg_word_length="min_average_word_length",
    max_avg_word_length="max_average_word_length",
    max_non_alpha_words_ratio="min_alphabetic_words_ratio",
    language="words",
)
@dataclass(frozen=True)
class GopherQuality(Filter):
    """Drops a document whose words, lines or symbols are not those of prose.

    From section A.1.1 of "Scaling Language Models" (https://arxiv.org/abs/2112.11446); the defaults are its bounds.
    None leaves a rule out. datatrove's names, which are taken too, and its reasons, which the verdicts carry:

        min_words, max_words                 min_doc_words, max_doc_words           words that are not symbols only
        min_, max_average_word_length        min_, max_avg_word_length              their length, in characters
        max_symbol_word_ratio                the same                               `#` a word; `...` and `…` a word
        max_bullet_lines_ratio               the same                               lines that begin with `•` or `-`
        max_ellipsis_lines_ratio             the same                               lines that end with `...` or `…`
        min_alphabetic_words_ratio           max_non_alpha_words_ratio (inverted)   words with a letter in them
        min_stop_words, stop_words           the same                               different ones of a list
        words                                language                               see filters/words.py

    A share of no words, or of no lines, is out of any bound (datatrove divides by zero where min_doc_words is off). In
    datatrove a bound of 0 switches a rule off; here it is a bound.
    Dropped: "# # #" (gopher_short_doc).
    """

    NAME: ClassVar[str] = "gopher_quality"

    min_words: int | None = 50
    max_words: int | None = 100_000
    min_average_word_length: float | None = 3
    max_average_word_length: float | None = 10
    max_symbol_word_ratio: float | None = 0.1
    max_bullet_lines_ratio: float | None = 0.9
    max_ellipsis_lines_ratio: float | None = 0.3
    min_alphabetic_words_ratio: float | None = 0.8
    min_stop_words: int | None = 2
    stop_words: Sequence[str] | None = None
    words: str = DEFAULT

    def __post_init__(self) -> None:
        check_splitter(self.words)
        for name in dict.fromkeys(field for field, *_ in _RULES):
            bound = getattr(self, name)
            if bound is not None and (isinstance(bound, bool) or not isinstance(bound, (int, float)) or bound < 0):
                raise ValueError(f"expected {name}: a number from 0 up, or null, found {bound!r}")
        stops = STOP_WORDS if self.stop_words is None else self.stop_words
        if isinstance(stops, str) or not all(isinstance(word, str) for word in stops):
            raise ValueError(f"expected stop_words: a list of words, found {self.stop_words!r}")
        object.__setattr__(self, "stop_words", tuple(stops))

    def measuring(self) -> dict[str, Any]:
        """The words, and which of them are stop words."""
        return {"words": self.words, "stop_words": self.stop_words}

    def measure(self, view: TextView) -> Signals:
        """Counts, and the ratios that rules bound."""
        from gristmill.kernels.quality import measure_quality

        assert self.stop_words is not None
        counts = measure_quality(view.offsets, view.data, view.words(self.words), _table(tuple(self.stop_words)))
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "gopher_quality.words": counts.words,
                "gopher_quality.non_symbol_words": counts.non_symbol_words,
                "gopher_quality.average_word_length": counts.non_symbol_characters / counts.non_symbol_words,
                "gopher_quality.hash_word_ratio": counts.hashes / counts.words,
                "gopher_quality.ellipsis_word_ratio": counts.ellipses / counts.words,
                "gopher_quality.bullet_lines_ratio": counts.bullet_lines / counts.lines,
                "gopher_quality.ellipsis_lines_ratio": counts.ellipsis_lines / counts.lines,
                "gopher_quality.alphabetic_words_ratio": counts.alphabetic_words / counts.words,
                "gopher_quality.stop_words": counts.stop_words,
            }

    def rules(self) -> list[Rule]:
        """Those that have a bound."""
        bounds = [(getattr(self, field), side, signal, reason) for field, side, signal, reason in _RULES]
        return [
            Rule(f"gopher_quality.{signal}", **{"minimum": None, "maximum": None, side: bound}, reason=reason)
            for bound, side, signal, reason in bounds
            if bound is not None
        ]

    def marks(self, text: str, reason: str) -> list[tuple[int, int]]:
        """The symbols, lines or words that are too many."""
        from gristmill.filters.marking import lines_of, words_of

        longest = self.max_average_word_length or 0
        offending: dict[str, Callable[[str], bool]] = {
            "gopher_too_many_hashes": lambda word: word == "#",
            "gopher_below_alpha_threshold": lambda word: not any(map(str.isalpha, word)),
            "gopher_above_avg_threshold": lambda word: len(word) > longest,
            "gopher_too_many_bullets": lambda line: line.startswith(("•", "-")),
            "gopher_too_many_end_ellipsis": lambda line: line.endswith(("...", "…")),
        }
        if reason == "gopher_too_many_ellipsis":
            return [match.span() for match in re.finditer(r"\.\.\.|…", text)]
        if reason not in offending:
            return []
        of_lines = reason in ("gopher_too_many_bullets", "gopher_too_many_end_ellipsis")
        spans = lines_of(text) if of_lines else words_of(text, self.words)
        return [(start, stop) for start, stop in spans if offending[reason](text[start:stop])]


@lru_cache(maxsize=8)
def _table(words: tuple[str, ...]) -> StopWords:
    from gristmill.kernels.quality import stop_words

    return stop_words(words)

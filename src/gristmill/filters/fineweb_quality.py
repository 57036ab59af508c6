"""Lists, menus and listings: FineWeb's own quality rules, decided as datatrove 0.10.1 decides them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gristmill.filters.aliases import also_known_as
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView
from gristmill.filters.words import DEFAULT, check_splitter


@also_known_as(
    line_punct_thr="min_line_punctuation_ratio",
    line_punct_exclude_zero="keep_without_punctuation",
    stop_chars="line_endings",
    short_line_thr="max_short_line_ratio",
    char_duplicates_ratio="max_duplicate_line_characters",
    new_line_ratio="max_newline_word_ratio",
    language="words",
)
@dataclass(frozen=True)
class FineWebQuality(Filter):
    """Drops a document whose lines are not those of running text. Blank lines do not count.

    From section 3.6 of "The FineWeb Datasets" (https://arxiv.org/abs/2406.17557); the defaults are its thresholds.
    None leaves a rule out. datatrove's names, which are taken too, and its reasons, which the verdicts carry:

        min_line_punctuation_ratio      line_punct_thr            line_punct_ratio   lines that end with a mark
        keep_without_punctuation        line_punct_exclude_zero                      ... but keep texts without any
        line_endings                    stop_chars                                   marks; any script's by default
        max_short_line_ratio            short_line_thr            short_line_ratio   short lines
        short_line_length               the same                                     characters of a short line
        max_duplicate_line_characters   char_duplicates_ratio     char_dup_ratio     characters in repeated lines
        max_newline_word_ratio          new_line_ratio            list_ratio         newlines a word
        words                           language                                     see filters/words.py

    Dropped: "Home\\nAbout\\nContact" (line_punct_ratio).
    """

    NAME: ClassVar[str] = "fineweb_quality"

    min_line_punctuation_ratio: float | None = 0.12
    keep_without_punctuation: bool = False
    line_endings: Sequence[str] | None = None
    max_short_line_ratio: float | None = 0.67
    short_line_length: int = 30
    max_duplicate_line_characters: float | None = 0.01
    max_newline_word_ratio: float | None = 0.3
    words: str = DEFAULT

    def __post_init__(self) -> None:
        check_splitter(self.words)
        for rule in self.rules():
            bound = rule.maximum if rule.minimum is None else rule.minimum
            if isinstance(bound, bool) or not isinstance(bound, (int, float)) or bound < 0:
                raise ValueError(f"expected a ratio from 0 up, or null, for {rule.reason}, found {bound!r}")
        if isinstance(self.short_line_length, bool) or not isinstance(self.short_line_length, int):
            raise ValueError(f"expected short_line_length: characters, found {self.short_line_length!r}")
        if self.line_endings is not None:
            if isinstance(self.line_endings, str) or not all(isinstance(mark, str) for mark in self.line_endings):
                raise ValueError(f"expected line_endings: a list of marks, found {self.line_endings!r}")
            object.__setattr__(self, "line_endings", tuple(self.line_endings))

    def measuring(self) -> dict[str, Any]:
        """The words, how lines end, and which are short."""
        return {"words": self.words, "endings": self.line_endings, "short": self.short_line_length}

    def measure(self, view: TextView) -> Signals:
        """The number of lines, and ratios."""
        from gristmill.kernels.prose_lines import measure_prose_lines

        counts = measure_prose_lines(view.offsets, view.data, self.line_endings, self.short_line_length)
        words = np.diff(view.words(self.words).first)
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "fineweb_quality.lines": counts.lines,
                "fineweb_quality.line_punctuation_ratio": counts.ending_lines / counts.lines,
                "fineweb_quality.short_line_ratio": counts.short_lines / counts.lines,
                "fineweb_quality.duplicate_line_characters": counts.duplicate_characters / counts.characters,
                "fineweb_quality.newline_word_ratio": counts.newlines / words,
            }

    def rules(self) -> list[Rule]:
        """First that there is a line; then those that have a bound."""
        bounds = [
            Rule("fineweb_quality.lines", 1, None, "empty"),
            Rule("fineweb_quality.line_punctuation_ratio", self.min_line_punctuation_ratio, None, "line_punct_ratio"),
            Rule("fineweb_quality.short_line_ratio", None, self.max_short_line_ratio, "short_line_ratio"),
            Rule(
                "fineweb_quality.duplicate_line_characters", None, self.max_duplicate_line_characters, "char_dup_ratio"
            ),
            Rule("fineweb_quality.newline_word_ratio", None, self.max_newline_word_ratio, "list_ratio"),
        ]
        return [rule for rule in bounds if (rule.minimum, rule.maximum) != (None, None)]

    def broken_rules(self, signals: Signals) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """As the rules say; `keep_without_punctuation` pardons those that have no mark at all."""
        broken = dict(super().broken_rules(signals))
        if self.keep_without_punctuation and "fineweb_quality.line_punct_ratio" in broken:
            some = np.asarray(signals["fineweb_quality.line_punctuation_ratio"]) != 0
            broken["fineweb_quality.line_punct_ratio"] &= some
        return list(broken.items())

    def marks(self, text: str, reason: str) -> list[tuple[int, int]]:
        """The lines that are short, end without a mark, or stood there before."""
        from gristmill.filters.marking import lines_of, seen_before
        from gristmill.kernels.character_classes import characters_of

        lines = lines_of(text)
        if reason == "char_dup_ratio":
            return seen_before(text, lines)
        if reason == "short_line_ratio":
            return [(start, stop) for start, stop in lines if stop - start <= self.short_line_length]
        if reason == "line_punct_ratio":
            endings = tuple(characters_of("terminal") if self.line_endings is None else self.line_endings)
            return [(start, stop) for start, stop in lines if not text[start:stop].endswith(endings)]
        return []

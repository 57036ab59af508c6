"""Gopher's filters and FineWeb's."""

from __future__ import annotations

from typing import Any

from datatrove.pipeline import filters as theirs

from gristmill.datatrove.judging import JudgesByUnit
from gristmill.datatrove.words import splitter_of
from gristmill.filters.filter import Filter
from gristmill.filters.fineweb_quality import FineWebQuality
from gristmill.filters.gopher_quality import GopherQuality
from gristmill.filters.gopher_repetition import GopherRepetition

_REPETITION = ("dup_line_frac", "dup_para_frac", "dup_line_char_frac", "dup_para_char_frac")
_QUALITY = (
    "min_doc_words",
    "max_doc_words",
    "min_avg_word_length",
    "max_avg_word_length",
    "max_symbol_word_ratio",
    "max_bullet_lines_ratio",
    "max_ellipsis_lines_ratio",
    "max_non_alpha_words_ratio",
    "min_stop_words",
)
_FINEWEB = (
    "line_punct_thr",
    "line_punct_exclude_zero",
    "stop_chars",
    "short_line_length",
    "char_duplicates_ratio",
    "new_line_ratio",
)


def _on(block: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The block's bounds; what is 0 is off, as datatrove has it."""
    return {name: getattr(block, name) or None for name in names}


class GopherRepetitionFilter(JudgesByUnit, theirs.GopherRepetitionFilter):
    """See gristmill.filters.GopherRepetition."""

    def make_unit(self) -> Filter:
        """With datatrove's names, which ours take too."""
        ngrams = {"top_n_grams": self.top_n_grams, "dup_n_grams": self.dup_n_grams}
        named: dict[str, Any] = {**_on(self, _REPETITION), **ngrams, "language": splitter_of(self.language)}
        return GopherRepetition(**named)


class GopherQualityFilter(JudgesByUnit, theirs.GopherQualityFilter):
    """See gristmill.filters.GopherQuality."""

    def make_unit(self) -> Filter:
        """With datatrove's names, which ours take too."""
        others = {"stop_words": tuple(sorted(self.stop_words)), "language": splitter_of(self.language)}
        named: dict[str, Any] = {**_on(self, _QUALITY), **others}
        return GopherQuality(**named)


class FineWebQualityFilter(JudgesByUnit, theirs.FineWebQualityFilter):
    """See gristmill.filters.FineWebQuality."""

    def make_unit(self) -> Filter:
        """With datatrove's names, which ours take too."""
        others = {"short_line_thr": self.short_line_threshold, "language": splitter_of(self.language)}
        named: dict[str, Any] = {**{name: getattr(self, name) for name in _FINEWEB}, **others}
        return FineWebQuality(**named)

"""Documents that repeat themselves: Gopher's measures of repetition, decided as datatrove 0.10.1 decides them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from gristmill.filters.aliases import also_known_as
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView
from gristmill.filters.words import DEFAULT, check_splitter

Shares = tuple[tuple[int, float], ...]
Span = tuple[int, int]


@also_known_as(
    dup_line_frac="max_duplicate_lines",
    dup_para_frac="max_duplicate_paragraphs",
    dup_line_char_frac="max_duplicate_line_characters",
    dup_para_char_frac="max_duplicate_paragraph_characters",
    top_n_grams="max_top_ngrams",
    dup_n_grams="max_duplicate_ngrams",
    language="words",
)
@dataclass(frozen=True)
class GopherRepetition(Filter):
    """Drops a document of which too much stands in it before: menus, logs, spun text.

    From table A1 of "Scaling Language Models" (https://arxiv.org/abs/2112.11446); the defaults are its thresholds.
    Each bound is the largest share that is kept; None leaves a measure out. datatrove's names, which are taken too:

        max_duplicate_paragraphs             dup_para_frac        of paragraphs, equal to an earlier one
        max_duplicate_paragraph_characters   dup_para_char_frac   of characters, in such paragraphs
        max_duplicate_lines                  dup_line_frac        of lines
        max_duplicate_line_characters        dup_line_char_frac   of characters, in such lines
        max_top_ngrams                       top_n_grams          {n: share of characters in the most frequent n-gram}
        max_duplicate_ngrams                 dup_n_grams          {n: share of characters in n-grams seen before}
        words                                language             see filters/words.py

    The reasons are datatrove's, too. In datatrove a bound of 0 switches a measure off; here it is a bound.
    Dropped: "Buy it. Buy it. Buy it. Buy it." (top_2_gram).
    """

    NAME: ClassVar[str] = "gopher_repetition"

    max_duplicate_lines: float | None = 0.3
    max_duplicate_paragraphs: float | None = 0.3
    max_duplicate_line_characters: float | None = 0.2
    max_duplicate_paragraph_characters: float | None = 0.2
    max_top_ngrams: Mapping[int, float] | Iterable[Iterable[float]] = ((2, 0.2), (3, 0.18), (4, 0.16))
    max_duplicate_ngrams: Mapping[int, float] | Iterable[Iterable[float]] = (
        (5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.10),
    )  # fmt: skip
    words: str = DEFAULT

    def __post_init__(self) -> None:
        check_splitter(self.words)
        for name, share in self._shares().items():
            _check_share(name, share)
        for name in ("max_top_ngrams", "max_duplicate_ngrams"):
            object.__setattr__(self, name, _pairs(name, getattr(self, name)))

    def measuring(self) -> dict[str, Any]:
        """The words, and which n-grams are counted."""
        return {"words": self.words, "top": self._lengths("top"), "duplicate": self._lengths("duplicate")}

    def measure(self, view: TextView) -> Signals:
        """Shares, in the order in which datatrove looks at them."""
        from gristmill.kernels.repetition import measure_repetition

        top, duplicate = self._lengths("top"), self._lengths("duplicate")
        shares = measure_repetition(view.offsets, view.data, view.words(self.words), top, duplicate)
        return {
            "gopher_repetition.bytes": view.lengths_bytes,
            "gopher_repetition.duplicate_paragraphs": shares.paragraphs,
            "gopher_repetition.duplicate_paragraph_characters": shares.paragraph_characters,
            "gopher_repetition.duplicate_lines": shares.lines,
            "gopher_repetition.duplicate_line_characters": shares.line_characters,
            **{f"gopher_repetition.top_{n}_gram": shares.top[at] for at, n in enumerate(top)},
            **{f"gopher_repetition.duplicate_{n}_grams": shares.duplicate[at] for at, n in enumerate(duplicate)},
        }

    def rules(self) -> list[Rule]:
        """First that there is a text; then paragraphs, lines, n-grams."""
        whole = [
            ("duplicate_paragraphs", self.max_duplicate_paragraphs, "dup_para_frac"),
            ("duplicate_paragraph_characters", self.max_duplicate_paragraph_characters, "dup_para_char_frac"),
            ("duplicate_lines", self.max_duplicate_lines, "dup_line_frac"),
            ("duplicate_line_characters", self.max_duplicate_line_characters, "dup_line_char_frac"),
            *((f"top_{n}_gram", share, f"top_{n}_gram") for n, share in self._pairs_of("top")),
            *((f"duplicate_{n}_grams", share, f"duplicated_{n}_n_grams") for n, share in self._pairs_of("duplicate")),
        ]
        return [
            Rule("gopher_repetition.bytes", 1, None, "empty"),
            *(
                Rule(f"gopher_repetition.{signal}", None, share, why)
                for signal, share, why in whole
                if share is not None
            ),
        ]

    def marks(self, text: str, reason: str) -> list[Span]:
        """What stood in the text before, or its most frequent n-gram."""
        from gristmill.filters import marking

        numbers = [int(number) for number in re.findall(r"\d+", reason)]
        if reason.startswith("dup_para"):
            return marking.seen_before(text, marking.paragraphs_of(text))
        if reason.startswith("dup_line"):
            return marking.seen_before(text, marking.lines_of(text))
        if reason.startswith("top_"):
            return marking.most_frequent_ngram(text, marking.words_of(text, self.words), *numbers)
        if reason.startswith("duplicated_"):
            return marking.ngrams_seen_before(text, marking.words_of(text, self.words), *numbers)
        return []

    def _shares(self) -> dict[str, float | None]:
        return {
            "max_duplicate_lines": self.max_duplicate_lines,
            "max_duplicate_paragraphs": self.max_duplicate_paragraphs,
            "max_duplicate_line_characters": self.max_duplicate_line_characters,
            "max_duplicate_paragraph_characters": self.max_duplicate_paragraph_characters,
        }

    def _pairs_of(self, kind: str) -> Shares:
        pairs: Shares = getattr(self, f"max_{kind}_ngrams")
        return pairs

    def _lengths(self, kind: str) -> list[int]:
        return [n for n, _ in self._pairs_of(kind)]


def _check_share(name: str, share: object) -> None:
    if share is not None and (isinstance(share, bool) or not isinstance(share, (int, float)) or not share >= 0):
        raise ValueError(f"expected {name}: a share such as 0.3, or null, found {share!r}")


def _pairs(name: str, given: Any) -> Shares:
    """{n: share} or pairs of them, as a tuple of pairs. JSON's keys are texts: "2" is 2."""
    items = given.items() if isinstance(given, Mapping) else (given or ())
    try:
        pairs = tuple((int(n) if isinstance(n, str) and n.isdecimal() else n, share) for n, share in items)
    except (TypeError, ValueError) as error:
        raise ValueError(f"expected {name}: {{n: share}} such as {{2: 0.2}}, found {given!r}") from error
    for n, share in pairs:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1 or share is None:
            raise ValueError(f"expected {name}: {{n: share}} such as {{2: 0.2}}, found {given!r}")
        _check_share(name, share)
    if len({n for n, _ in pairs}) < len(pairs):
        raise ValueError(f"expected each n once in {name}, found {given!r}")
    return pairs

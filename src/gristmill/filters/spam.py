"""Drops advertising and fraud by the phrases that stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from gristmill.errors import unknown_name
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView
from gristmill.formats import resource

if TYPE_CHECKING:
    from gristmill.filters.phrases import Phrases

LANGUAGES = ("en", "vi")  # of the lists that are embedded: data/spam.LANGUAGE.txt


@dataclass(frozen=True)
class Spam(Filter):
    """Drops a document in which phrases of spam stand: by default, in which a single one does.

    A phrase stands wherever its characters do, also within a word, in the lower-cased and NFC-normalised text:
    `BUY NOW` and Vietnamese typed with combining marks count, `buy  now` with two blanks does not. Each place counts,
    also of phrases that overlap. What is looked for is all of this together, each phrase once:

        languages     the embedded lists: 28 phrases for en, 27 for vi; [] for none of them
        phrases       a list of one's own
        lists         files, a phrase a line; empty lines and those that begin with # are left out

    and how much of it is kept:

        max_hits      places in all; null for no such bound
        max_density   places in 1,000 characters of the text as it comes, null for no such bound (characters and not
                      words, which Japanese and Thai do not set apart)

    The signals `spam.phrases` (different ones) and `spam.first_phrase` (the one that begins first, the longest of
    them) are for people to look at. datatrove has no such filter.
    Dropped: "Limited time offer, order now!" (phrase).
    """

    NAME: ClassVar[str] = "spam"

    languages: Sequence[str] = LANGUAGES
    phrases: Sequence[str] = ()
    lists: Sequence[str] = ()
    max_hits: int | None = 0
    max_density: float | None = None

    def __post_init__(self) -> None:
        for name in ("languages", "phrases", "lists"):
            items = getattr(self, name)
            if isinstance(items, str) or not all(isinstance(item, str) and item for item in items):
                raise ValueError(f"expected {name}: a list of texts, none empty, found {items!r}")
            object.__setattr__(self, name, tuple(items))
        for language in self.languages:
            if language not in LANGUAGES:
                raise ValueError(unknown_name("language of spam phrases", language, LANGUAGES))
        if not (self.languages or self.phrases or self.lists):
            raise ValueError("expected phrases from languages, phrases or lists, found none")
        if (
            isinstance(self.max_hits, bool)
            or not isinstance(self.max_hits, (int, type(None)))
            or (self.max_hits or 0) < 0
        ):
            raise ValueError(f"expected max_hits: a whole number from 0 up, or null, found {self.max_hits!r}")
        density = self.max_density
        if isinstance(density, bool) or not isinstance(density, (int, float, type(None))) or not (density or 0) >= 0:
            raise ValueError(f"expected max_density: hits in 1,000 characters, from 0 up, or null, found {density!r}")
        if not self.rules():
            raise ValueError("expected max_hits or max_density, found neither")

    def contents(self) -> dict[str, Any]:
        """The lists, by what they hold."""
        return {"lists": list(self._digests)}

    @cached_property
    def _digests(self) -> tuple[str, ...]:
        return tuple(resource.digest(address) for address in self.lists)

    def measuring(self) -> dict[str, Any]:
        """The phrases."""
        return {"languages": self.languages, "phrases": self.phrases, **self.contents()}

    def measure(self, view: TextView) -> Signals:
        """Counts, and the first phrase."""
        phrases = _phrases(*self._named())
        found = phrases.find(view.offsets, view.data)
        return {
            "spam.hits": found.hits,
            "spam.density": 1000 * found.hits / np.maximum(view.lengths_characters, 1),
            "spam.phrases": found.phrases,
            "spam.first_phrase": pa.array(phrases.names, pa.string()).take(pa.array(found.first, mask=found.first < 0)),
        }

    def rules(self) -> list[Rule]:
        """Those that have a bound."""
        rules = [
            Rule("spam.hits", None, self.max_hits, "phrase"),
            Rule("spam.density", None, self.max_density, "density"),
        ]
        return [rule for rule in rules if rule.maximum is not None]

    def marks(self, text: str, reason: str) -> list[tuple[int, int]]:
        """The phrases."""
        from gristmill.filters.folding import folded
        from gristmill.filters.marking import phrases_in

        return phrases_in(text, dict.fromkeys(map(folded, _listed(*self._named()))))

    def _named(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self.languages), tuple(self.phrases), tuple(self.lists), self._digests


@lru_cache(maxsize=4)
def _phrases(*named: tuple[str, ...]) -> Phrases:
    from gristmill.filters.phrases import Phrases

    return Phrases(_listed(*named))


@lru_cache(maxsize=4)
def _listed(
    languages: tuple[str, ...], own: tuple[str, ...], lists: tuple[str, ...], digests: tuple[str, ...]
) -> tuple[str, ...]:
    """`digests`: of the lists, so that one that is edited is read again."""
    embedded = [
        phrase
        for language in languages
        for phrase in files("gristmill.filters").joinpath(f"data/spam.{language}.txt").read_text("utf-8").splitlines()
    ]
    return (*embedded, *own, *(phrase for address in lists for phrase in resource.read_lines(address)))

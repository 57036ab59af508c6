"""Texts that say a word of a list: C4's rule on bad words, as datatrove 0.10.1 decides it, by your own lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import buffers
from gristmill.errors import RecipeError
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView
from gristmill.formats import resource

_WITHOUT_SPACES = ("ja", "th", "zh")  # languages in which a word is looked for within others
_ALLOWED = ("sm", "グロ", "女の子", "性")  # in datatrove's lists, but common parts of words in Japanese and Chinese
_LOWER_BY_CONTEXT = "İ|Σ"  # what Arrow lower-cases otherwise than Python

WordList = str | Sequence[str]
Finder = Callable[..., "npt.NDArray[np.bool_]"]  # the buffers of lower-cased texts → which of them say a word


@dataclass(frozen=True)
class BadWords(Filter):
    """Drops a document, or all but a share of them, whose lower-cased text says a word of a list.

    From section 2.2 of "Exploring the Limits of Transfer Learning" (https://arxiv.org/abs/1910.10683), as in
    datatrove's C4BadWordsFilter, but for two things:

        lists                       no list comes with Gristmill and none is downloaded: a file (path or address) with a
                                    word a line, words themselves, or {language: either}
        seed                        whether a document is among the `keep_fraction` is drawn by the hash of its text and
                                    the seed, and so does not depend on the documents before it

        keep_fraction               the same: this share of documents with bad words is kept
        default_language            the same: of documents that do not say theirs; a single list is of this language
        language_column             metadata["language"]
        fail_on_missing_language    the same: an error where no list is of the document's language; else it is kept
        allowed                     the same four words: listed or not, they are fine

    A word has to stand alone, but in ja, th and zh. Texts are lower-cased, lists are not: a listed word with a capital
    is never found. Empty lines and lines with `#` in front are no words. A changed `keep_fraction` reads no text.
    Dropped by `lists: [darn]`: "Well, DARN it." (document_removed_with_badwords).
    """

    NAME: ClassVar[str] = "bad_words"

    lists: WordList | Mapping[str, WordList]
    keep_fraction: float = 0.0
    fail_on_missing_language: bool = True
    seed: int = 0
    default_language: str = "en"
    language_column: str = "language"
    allowed: Sequence[str] = _ALLOWED

    def __post_init__(self) -> None:
        if not self.lists or not all(_is_list(words) for words in self._by_language().values()):
            raise ValueError(f"expected lists: a file, words, or {{language: either}}, found {self.lists!r}")
        if isinstance(self.keep_fraction, bool) or not isinstance(self.keep_fraction, (int, float)):
            raise ValueError(f"expected keep_fraction: a share such as 0.1, found {self.keep_fraction!r}")
        if not 0 <= self.keep_fraction <= 1:
            raise ValueError(f"expected keep_fraction: a share from 0 to 1, found {self.keep_fraction!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            raise ValueError(f"expected seed: a whole number from 0 up, found {self.seed!r}")

    def other_columns(self) -> tuple[str, ...]:
        """Where the language stands."""
        return (self.language_column,)

    def contents(self) -> dict[str, Any]:
        """What the files hold."""
        return {
            "lists": {
                language: resource.digest(words) if isinstance(words, str) else list(words)
                for language, words in self._by_language().items()
            }
        }

    def measuring(self) -> dict[str, Any]:
        """All but the share that is kept."""
        columns = {"default": self.default_language, "column": self.language_column}
        fails = self.fail_on_missing_language
        return {**self.contents(), **columns, "fails": fails, "seed": self.seed, "allowed": list(self.allowed)}

    def measure(self, view: TextView) -> Signals:
        """A number for each document: 1 without bad words, else drawn below 1."""
        languages = pc.fill_null(view.column(self.language_column), self.default_language)
        draws = np.ones(len(view))
        for language in pc.unique(languages).to_pylist():
            of_language = np.flatnonzero(pc.equal(languages, language))
            texts = view.texts if len(of_language) == len(view) else view.texts.take(pa.array(of_language))
            found = np.flatnonzero(self._found(language, texts))
            draws[of_language[found]] = _draws(texts.take(pa.array(found)), self.seed)
        return {"bad_words.draw": draws}

    def rules(self) -> list[Rule]:
        """Texts without bad words pass, and those with a high draw."""
        return [Rule("bad_words.draw", 1 - self.keep_fraction, None, "document_removed_with_badwords")]

    def marks(self, text: str, reason: str) -> list[tuple[int, int]]:
        """The listed words, of every language: the text alone does not tell its own."""
        from gristmill.filters.marking import phrases_in

        spans = []
        for language, words in self._words.items():
            for start, stop in phrases_in(text, sorted(words)):
                beside = text[start - 1 : start] + text[stop : stop + 1] if start else text[stop : stop + 1]
                if language in _WITHOUT_SPACES or not re.search(r"\w", beside):
                    spans.append((start, stop))
        return spans

    def _by_language(self) -> dict[str, WordList]:
        return dict(self.lists) if isinstance(self.lists, Mapping) else {self.default_language: self.lists}

    @cached_property
    def _finders(self) -> dict[str, Finder]:
        return {language: finder(language, words) for language, words in self._words.items()}

    @cached_property
    def _words(self) -> dict[str, set[str]]:
        return {
            language: set(resource.read_lines(words) if isinstance(words, str) else words) - set(self.allowed)
            for language, words in self._by_language().items()
        }

    def _found(self, language: str, texts: Any) -> npt.NDArray[np.bool_]:
        if language not in self._finders:
            if not self.fail_on_missing_language:
                return np.zeros(len(texts), np.bool_)
            raise RecipeError(
                f"expected a list of bad words for language {language!r}, found lists for {', '.join(self._finders)}\n"
                "  Add one to `lists`, or set `fail_on_missing_language: false` to keep such documents."
            )
        return self._finders[language](*buffers(lower_case(texts)))


def finder(language: str, words: set[str]) -> Finder:
    """What looks for these words as they have to stand in that language."""
    from gristmill.kernels.listed_words import find_anywhere, find_apart, word_tree

    find, tree = find_anywhere if language in _WITHOUT_SPACES else find_apart, word_tree(words)
    return lambda offsets, data: find(offsets, data, tree)


def _is_list(words: object) -> bool:
    if isinstance(words, str):
        return words != ""
    return isinstance(words, Sequence) and all(isinstance(word, str) for word in words)


def lower_case(texts: Any) -> Any:
    """As str.lower() does it."""
    lower = pc.utf8_lower(texts)
    by_context = pc.match_substring_regex(texts, _LOWER_BY_CONTEXT)
    if not pc.any(by_context).as_py():
        return lower
    own = [text.lower() for text in texts.filter(by_context).to_pylist()]
    return pc.replace_with_mask(lower, by_context, pa.array(own, pa.large_string()))


def _draws(texts: Any, seed: int) -> npt.NDArray[np.float64]:
    """A number from 0 to below 1 for each text."""
    from gristmill.kernels.hashing import hash_texts

    low, high = np.empty((2, len(texts)), np.uint64)
    hash_texts(*buffers(texts), low, high)
    bits = low + high * np.uint64(2 * seed + 1)
    draws: npt.NDArray[np.float64] = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return draws

"""Words in URLs, as datatrove looks for them.

What enters: words, and URLs as the buffers of a string column. What leaves: how many different ones of the words each
URL has. Only A-Z, a-z and 0-9 make words, in URLs and in what is looked for.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gristmill.document import Bytes, Offsets
from gristmill.kernels.aho_corasick import NO_SYMBOL, SKIPPED, automaton, find

_ALPHANUMERIC = string.ascii_letters + string.digits
_SYMBOLS = string.digits + string.ascii_lowercase  # their numbers begin with 1
_EDGE = len(_SYMBOLS) + 1
_CODE_POINTS = 0x110000


def normalized(entry: str) -> str:
    """An entry of a list as it is looked for. Raises ValueError where nothing of it can stand in a URL's words."""
    word = re.sub("[^a-zA-Z0-9]+", "", entry).lower()
    if not word:
        raise ValueError(f"expected a word with letters A-Z or digits, found {entry!r}")
    return word


class WholeWords:
    """Looks for whole words, in lower case only: what stands between other characters, or at the URL's ends."""

    def __init__(self, words: Sequence[str]) -> None:
        numbers = [[_EDGE, *_numbers(word), _EDGE] for word in _different(words)]
        self._machine = automaton(numbers, _EDGE + 1)
        self._symbols = _table(_EDGE)
        self._symbols[[ord(letter) for letter in string.ascii_uppercase]] = NO_SYMBOL

    def count(self, offsets: Offsets, data: Bytes) -> npt.NDArray[np.int64]:
        """Different ones in each URL."""
        return find(offsets, data, self._symbols, self._machine, _EDGE).phrases


class Subwords:
    """Looks for words anywhere in a URL's letters and digits, whatever their case and whatever stands between them."""

    def __init__(self, words: Sequence[str]) -> None:
        self._machine = automaton([_numbers(word) for word in _different(words)], _EDGE)
        self._symbols = _table(SKIPPED)

    def count(self, offsets: Offsets, data: Bytes) -> npt.NDArray[np.int64]:
        """Different ones in each URL."""
        return find(offsets, data, self._symbols, self._machine).phrases


@lru_cache(maxsize=8)
def whole_words(words: tuple[str, ...]) -> WholeWords:
    """Ready to look for these."""
    return WholeWords(words)


@lru_cache(maxsize=8)
def subwords(words: tuple[str, ...]) -> Subwords:
    """Ready to look for these."""
    return Subwords(words)


def _different(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(normalized, words)))


def _numbers(word: str) -> list[int]:
    return [_SYMBOLS.index(character) + 1 for character in word]


def _table(of_others: int) -> npt.NDArray[np.uint16]:
    """Letters of either case and digits have their numbers, all other code points this symbol."""
    table = np.full(_CODE_POINTS, of_others, np.uint16)
    table[[ord(character) for character in _ALPHANUMERIC]] = _numbers(_ALPHANUMERIC.lower())
    return table

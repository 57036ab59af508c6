"""Where phrases stand in texts, whatever the case and the normalisation form of either.

What enters: phrases, and the buffers of a string column. What leaves: how often they stand in the lower-cased,
NFC-normalised text, `unicodedata.normalize("NFC", text.lower())`, exactly as this Python has it.

Nothing is lower-cased or normalised for that, where it can be told from single characters: a table gives Đ and đ the
same symbol. Arrow's utf8_lower would not do: it knows neither that İ becomes two characters nor the final sigma (Σ →
ς), which `str.lower` does. What one character does not tell is left to Python, a text at a time: texts that hold
a mark which could melt into a letter of the phrases, or İ or Σ where the phrases have i or σ. Python makes 62 MB/s of
Vietnamese in NFD ready; Arrow's utf8_lower and utf8_normalize make 62, too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.document import Bytes, Offsets, buffers, strings
from gristmill.filters.folding import folded
from gristmill.kernels.aho_corasick import (
    MOST_SYMBOLS,
    NO_SHORTCUT,
    UNSETTLED,
    Automaton,
    Found,
    Shortcut,
    automaton,
    find,
    shortcut,
)
from gristmill.kernels.phrase_windows import LONGEST_BEGINNING

_CODE_POINTS = 0x110000
_MOST_BEGINNINGS_A_PHRASE = 128
_CASED_CODE_POINTS = 0x20000  # ideographs begin there
_CAPITAL_I_WITH_DOT, _CAPITAL_SIGMA = "\u0130", "\u03a3"  # the two whose lower case is not one character's own
_HANGUL_LEADS = {chr(code) for code in range(0x1100, 0x1113)}
_HANGUL_VOWELS_AND_FINALS = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
# ASCII; CJK ideographs; Hangul syllables, surrogates and private use; Tangut ideographs: no marks among them, and none
# that decomposes but the syllables, which a rule makes.
_ALONE = (range(0x80), range(0x3400, 0xA000), range(0xAC00, 0xF900), range(0x17000, 0x18D00))


class Phrases:
    """Phrases to look for: folded, each once, in the order given."""

    def __init__(self, phrases: Sequence[str]) -> None:
        self.names = list(dict.fromkeys(folded(phrase) for phrase in phrases))
        alphabet = sorted(set("".join(self.names)))
        if len(alphabet) >= MOST_SYMBOLS:
            raise ValueError(f"expected phrases of fewer than {MOST_SYMBOLS} different characters")
        number = {character: symbol for symbol, character in enumerate(alphabet, 1)}
        self._machine: Automaton = automaton([[number[one] for one in name] for name in self.names], len(number) + 1)
        self._exact = np.zeros(_CODE_POINTS, np.uint16)
        self._exact[[ord(character) for character in alphabet]] = list(number.values())
        self._folding = self._exact.copy()
        self._folding[:_CASED_CODE_POINTS] = self._exact[_lower_case()]
        self._folding[[ord(character) for character in _unsettled(set(alphabet))]] = UNSETTLED
        self._shortcut = self._shortcut_of(alphabet)

    def find(self, offsets: Offsets, data: Bytes) -> Found:
        """Each place of each phrase in each text."""
        found = find(offsets, data, self._folding, self._machine, shortcut=self._shortcut)
        unsettled = np.flatnonzero(found.hits < 0)
        if len(unsettled):
            texts = strings(offsets, data).take(pa.array(unsettled)).to_pylist()
            settled = buffers(pa.array([folded(text) for text in texts], pa.large_string()))
            for counts, right in zip(found, find(*settled, self._exact, self._machine), strict=True):
                counts[unsettled] = right
        return found

    def _shortcut_of(self, alphabet: Sequence[str]) -> Shortcut:
        """From the beginnings of all phrases, in every way to write them but by UNSETTLED characters; none where there
        are too many ways, or no phrase is left."""
        order = np.argsort(self._folding, kind="stable")
        bounds = np.searchsorted(self._folding[order], np.arange(1, len(alphabet) + 2))
        written = {
            one: [chr(code).encode() for code in order[start:stop].tolist()]
            for one, start, stop in zip(alphabet, bounds[:-1], bounds[1:], strict=True)
        }
        beginnings: set[bytes] = set()
        for name in self.names:
            ways = {b""}
            for character in name:
                longer = {
                    way + one.lower() if len(way) < LONGEST_BEGINNING else way
                    for way in ways
                    for one in written[character]
                }
                if longer == ways:
                    break
                ways = longer
            beginnings |= ways
            if len(beginnings) > _MOST_BEGINNINGS_A_PHRASE * len(self.names):
                return NO_SHORTCUT
        return shortcut(beginnings, self._folding) if beginnings else NO_SHORTCUT


@lru_cache(maxsize=1)
def _lower_case() -> npt.NDArray[np.uint32]:
    """Code point → its lower case; İ and Σ stay."""
    codes = np.arange(_CASED_CODE_POINTS, dtype=np.uint32)
    codes[[ord(_CAPITAL_I_WITH_DOT), ord(_CAPITAL_SIGMA)]] = ord("x")  # so that nothing gets longer or looks around
    lower = codes.tobytes().decode("utf-32-le", "surrogatepass").lower()
    table: npt.NDArray[np.uint32] = np.frombuffer(lower.encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    table[[ord(_CAPITAL_I_WITH_DOT), ord(_CAPITAL_SIGMA)]] = ord(_CAPITAL_I_WITH_DOT), ord(_CAPITAL_SIGMA)
    return table


def _unsettled(alphabet: set[str]) -> set[str]:
    """Characters for whose sake a text has to be folded, before one can say which of the alphabet stand in it.

    Normalising changes a text only in runs of a character and marks behind it, and what comes out of a run decomposes
    to what went in. So a character matters if it decomposes to one of the alphabet's pieces in another way than by
    itself, or if it is part of a character that begins with one of these pieces. Who looks at his neighbours for
    another reason (the order of marks, İ, Σ) matters if he is a piece himself.
    """
    pieces = set(unicodedata.normalize("NFD", "".join(alphabet)))
    found = {piece for piece in pieces if unicodedata.combining(piece)}
    for character, low, composed, decomposed in _changing():
        if decomposed[0] in pieces:
            found.update(decomposed[1:])
        elif alphabet.isdisjoint(decomposed):
            continue
        if composed != low or len(low) > 1:
            found.add(character)
    if not pieces.isdisjoint("σς"):
        found.add(_CAPITAL_SIGMA)
    if not pieces.isdisjoint(_HANGUL_LEADS | _HANGUL_VOWELS_AND_FINALS):
        found.update(_HANGUL_VOWELS_AND_FINALS)  # they melt with what stands before them into a syllable
    return found


@lru_cache(maxsize=1)
def _changing() -> list[tuple[str, str, str, str]]:
    """Characters that have more than one form: as they are, in lower case, this composed, this decomposed."""
    alone = np.zeros(_CASED_CODE_POINTS, np.bool_)
    for codes in _ALONE:
        alone[codes.start : codes.stop] = True
    codes_to_see = [*np.flatnonzero(~alone).tolist(), *range(0x2F800, 0x2FA20)]
    characters = list(map(chr, codes_to_see))
    lower = "\n".join(characters).lower()
    forms = zip(
        characters,
        lower.split("\n"),
        unicodedata.normalize("NFC", lower).split("\n"),
        unicodedata.normalize("NFD", lower).split("\n"),
        strict=True,
    )
    return [
        (character, low, composed, decomposed)
        for character, low, composed, decomposed in forms
        if decomposed != low or len(low) > 1
    ]

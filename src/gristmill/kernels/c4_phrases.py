"""The phrases by which C4 tells boilerplate.

What enters: the address of valid UTF-8, with PADDING_BYTES and two more readable behind it, and a span. What leaves:
which kinds of phrases stand in it, in any case, as they would in `str.lower()`: the Kelvin sign is a k.
"""

from __future__ import annotations

import numpy as np

from gristmill.kernels.compile import inline
from gristmill.kernels.vector import PADDING_BYTES, equal64, first_bit

_BLANK, _K = ord(" "), ord("k")
_KELVIN = tuple("\u212a".encode())

LOREM_IPSUM, JAVASCRIPT, POLICY = 1, 2, 4
# Three letters that are rare together; the phrases that have them, and where. No k stands before them in a phrase.
_ANCHORS = {
    "ips": {"lorem ipsum": LOREM_IPSUM},
    "vas": {"javascript": JAVASCRIPT},
    "vac": {"privacy policy": POLICY},
    "f u": {"terms of use": POLICY},
    "coo": dict.fromkeys(("cookie policy", "uses cookies", "use of cookies", "use cookies"), POLICY),
}
_PHRASE_BYTES = 16
_ANCHOR = np.array([list(anchor.encode()) for anchor in _ANCHORS], np.uint8)
_FIRST_PHRASE = np.cumsum([0, *map(len, _ANCHORS.values())])
_BEFORE_ANCHOR = np.array([phrase.index(anchor) for anchor in _ANCHORS for phrase in _ANCHORS[anchor]])
_PHRASE = np.array([list(phrase.ljust(_PHRASE_BYTES, "\0").encode()) for of in _ANCHORS.values() for phrase in of])
_PHRASE_LENGTH = np.array([len(phrase) for phrases in _ANCHORS.values() for phrase in phrases])
_PHRASE_KIND = np.array([kind for phrases in _ANCHORS.values() for kind in phrases.values()])


@inline
def _folded(data, at, letter):
    """Where this small letter or blank stands, in either case; a blank is found in NUL, too."""
    return equal64(data, at, letter) | equal64(data, at, letter & 0xDF)


@inline
def _says(data, at, stop, phrase):
    """Whether data[at:stop] begins with the phrase, in any case."""
    for index in range(_PHRASE_LENGTH[phrase]):
        letter = _PHRASE[phrase, index]
        if at >= stop:
            return False
        byte = data[at]
        if byte == letter or (letter != _BLANK and byte == letter & 0xDF):
            at += 1
        elif letter == _K and at + 3 <= stop and byte == _KELVIN[0]:
            if data[at + 1] != _KELVIN[1] or data[at + 2] != _KELVIN[2]:
                return False
            at += 3
        else:
            return False
    return True


@inline
def phrases(data, start, stop):
    """Which kinds of phrases data[start:stop] has."""
    kinds = np.int64(0)
    at = start
    while at < stop:
        for anchor in range(len(_ANCHOR)):
            found = _folded(data, at, _ANCHOR[anchor, 0]) & _folded(data, at + 1, _ANCHOR[anchor, 1])
            if not found:
                continue
            found &= _folded(data, at + 2, _ANCHOR[anchor, 2])
            while found:
                position = at + first_bit(found)
                found &= found - np.uint64(1)
                for phrase in range(_FIRST_PHRASE[anchor], _FIRST_PHRASE[anchor + 1]):
                    begin = position - _BEFORE_ANCHOR[phrase]
                    if begin >= start and _says(data, begin, stop, phrase):
                        kinds |= _PHRASE_KIND[phrase]
        at += PADDING_BYTES
    return kinds

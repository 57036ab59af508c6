"""The rule that cuts one chunk (a run of characters that are not white space) into pieces.

What enters: the bytes of a chunk. What leaves: where its pieces end. Guaranteed: the pieces make up the chunk, and
are the tokens that spaCy's blank English tokenizer gives it in its first pass:

1. Affixes: as long as anything comes off, take a prefix off the front and a suffix off the end. What remains is
   looked up before each round, and with either affix off; an exception is cut as the lexicon says.
2. What remains is cut around infixes, unless it is a URL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.kernels.characters import (
    ALPHA,
    APOSTROPHE,
    BEFORE_FULL_STOP,
    DASH,
    DIGIT,
    ICON,
    INSIDE,
    LOWER,
    OPERATOR,
    PREFIX,
    QUOTE,
    RELATION,
    SUFFIX,
    UPPER,
    character,
    code_point,
)
from gristmill.kernels.compile import inline
from gristmill.kernels.vector import address
from gristmill.kernels.words_lexicon import find, find_exception
from gristmill.kernels.words_url import is_url

_LONGEST_UNIT_CHARACTERS = 5
_COMMA, _DOLLAR, _FULL_STOP, _HYPHEN, _PLUS = (ord(character) for character in ",$.-+")
_A, _C, _F, _K, _S, _U, _SMALL_S = (ord(character) for character in "ACFKSUs")
_DEGREE, _ELLIPSIS, _EM_DASH = (ord(character) for character in "°…—")


class Chunk(NamedTuple):
    """Room for one chunk's characters; `pieces` is what the rule leaves there."""

    classes: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]  # where each character's bytes begin; behind the last, where they end
    suffixes: npt.NDArray[np.int64]  # where each suffix begins, the outermost first
    pieces: npt.NDArray[np.int64]  # where each piece ends, in bytes


@inline
def chunk_in(room):
    """A chunk that takes a quarter of `room` for each of its parts."""
    part = room.size // 4
    return Chunk(
        address(room[:part]),
        address(room[part : 2 * part]),
        address(room[2 * part : 3 * part]),
        address(room[3 * part :]),
    )


@inline
def cut_chunk(data, start, stop, characters, lexicon, chunk):
    """Cut data[start:stop] into `chunk.pieces`; how many there are. `chunk` has room for stop - start + 1."""
    classes, at, pieces = chunk.classes, chunk.at, chunk.pieces
    hi = 0
    where = start
    while where < stop:
        classes[hi], width = character(data, where, characters)
        at[hi] = where
        hi += 1
        where += width
    at[hi] = stop

    lo = 0
    count = 0
    suffixes = 0
    exception = np.int64(-1)
    while lo < hi:
        exception = find_exception(lexicon, data, at[lo], at[hi])
        if exception >= 0:
            break
        prefix = _prefix(data, classes, at, lo, hi)
        if prefix > 0:
            if lo + prefix < hi:
                exception = find_exception(lexicon, data, at[lo + prefix], at[hi])
            if exception >= 0:
                lo += prefix
                pieces[count] = at[lo]
                count += 1
                break
        suffix = _suffix(data, classes, at, lo + prefix, hi, lexicon)
        if suffix > 0:
            if lo < hi - suffix:
                exception = find_exception(lexicon, data, at[lo], at[hi - suffix])
            hi -= suffix
            chunk.suffixes[suffixes] = at[hi]
            suffixes += 1
            if exception >= 0:
                break
        if prefix > 0:
            lo += prefix
            pieces[count] = at[lo]
            count += 1
        elif suffix == 0:
            break

    if lo < hi:
        if exception >= 0:
            for cut in range(lexicon.cut_start[exception], lexicon.cut_start[exception + 1]):
                pieces[count] = at[lo] + lexicon.cuts[cut]
                count += 1
        else:
            count = _cut_infixes(data, classes, at, lo, hi, pieces, count)
    for outer in range(suffixes - 1, 0, -1):
        pieces[count] = chunk.suffixes[outer - 1]
        count += 1
    if suffixes > 0:
        pieces[count] = stop
        count += 1
    return count


@inline
def _full_stops(data, at, lo, hi):
    stop = lo
    while stop < hi and data[at[stop]] == _FULL_STOP:
        stop += 1
    return stop - lo


@inline
def _prefix(data, classes, at, lo, hi):
    """How many characters come off the front of lo..hi."""
    first = data[at[lo]]
    if first == _FULL_STOP:
        run = _full_stops(data, at, lo, hi)
        return run if run > 1 else 0
    if first == _PLUS:
        return 0 if lo + 1 < hi and classes[lo + 1] & DIGIT else 1
    if classes[lo] & PREFIX:
        return 1
    if first in (_A, _C) and lo + 1 < hi and data[at[lo + 1]] == _DOLLAR:
        return 2
    if first == _U and lo + 2 < hi and data[at[lo + 1]] == _S and data[at[lo + 2]] == _DOLLAR:
        return 3
    return 0


@inline
def _suffix(data, classes, at, lo, hi, lexicon):
    """How many characters come off the end of lo..hi: as many as any of the rules allows."""
    if lo >= hi:
        return 0
    last = hi - 1
    if data[at[last]] == _FULL_STOP:
        return _suffix_full_stops(data, classes, at, lo, hi)
    if data[at[last]] in (_S, _SMALL_S) and last > lo and classes[last - 1] & APOSTROPHE:
        return 2
    for length in range(1, min(_LONGEST_UNIT_CHARACTERS, last - lo) + 1):
        if classes[last - length] & DIGIT:
            unit = find(lexicon, data, at[hi - length], at[hi])
            if unit >= 0 and lexicon.is_unit[unit]:
                return length
            break
    if not classes[last] & SUFFIX:
        return 0
    if last > lo and _is(data, at, last, _ELLIPSIS) and _is(data, at, last - 1, _ELLIPSIS):
        return 2
    return 1


@inline
def _suffix_full_stops(data, classes, at, lo, hi):
    first = hi - 1
    while first > lo and data[at[first - 1]] == _FULL_STOP:
        first -= 1
    if hi - first > 1:
        return hi - first
    if first == lo:
        return 0
    before = classes[first - 1]
    if before & BEFORE_FULL_STOP:
        return 1
    if first - lo >= 2 and (
        before & classes[first - 2] & UPPER
        or (data[at[first - 1]] in (_F, _C, _K) and _is(data, at, first - 2, _DEGREE))
    ):
        return 1
    return 0


@inline
def _is(data, at, index, code):
    return code_point(data, at[index])[0] == code


@inline
def _infix(data, classes, at, lo, index, hi):
    """How many characters from `index` on are an infix of lo..hi. The first rule that holds wins."""
    here = classes[index]
    before = classes[index - 1] if index > lo else np.int64(0)
    after = classes[index + 1] if index + 1 < hi else np.int64(0)
    byte = data[at[index]]
    if byte == _FULL_STOP:
        run = _full_stops(data, at, index, hi)
        if run > 1:
            return run
        return 1 if before & (LOWER | QUOTE) and after & (UPPER | QUOTE) else 0
    if here & ICON:
        return 1
    if here & OPERATOR and before & DIGIT and (after & DIGIT or (index + 1 < hi and data[at[index + 1]] == _HYPHEN)):
        return 1
    if byte == _COMMA:
        return 1 if before & after & ALPHA else 0
    if not before & (ALPHA | DIGIT):
        return 0
    if here & (DASH | RELATION) and after & ALPHA:
        return 1
    code = code_point(data, at[index])[0]
    longest = 3 if code == _HYPHEN else 2 if code == _EM_DASH else 1
    for length in range(2, longest + 1):
        if index + length >= hi or not _is(data, at, index + length - 1, code):
            return 0
        if classes[index + length] & ALPHA:
            return length
    return 0


@inline
def _cut_infixes(data, classes, at, lo, hi, pieces, count):
    before = count
    piece = lo
    index = lo
    full_stop = False
    while index < hi:
        if not classes[index] & INSIDE:
            index += 1
            continue
        full_stop |= data[at[index]] == _FULL_STOP
        length = _infix(data, classes, at, lo, index, hi)
        if length == 0:
            index += 1
            continue
        if index > lo:  # spaCy leaves an infix at the very front where it is
            if index > piece:
                pieces[count] = at[index]
                count += 1
            pieces[count] = at[index + length]
            count += 1
            piece = index + length
        index += length
    if count > before and full_stop and is_url(data, classes, at, lo, hi):
        count = before
        piece = lo
    if piece < hi:
        pieces[count] = at[hi]
        count += 1
    return count

"""Which lines of a document C4 keeps, and what it finds in them: decided as datatrove's C4QualityFilter decides.

What enters: the buffers of a string column, the bounds of its lines (or sentences), and which rules there are. What
leaves: the kept lines as a column of their own, without white space at their ends and without citations, and counts
for each document; `join_lines` makes documents of them again.

In the order of the rules: a line goes that has a word too long; then citations go; then lines without a terminal
mark, with too few words (citations counted), with `javascript`, with a phrase on policies. Lines with `lorem ipsum`
or a curly bracket, as far as they come to that rule, are counted and kept: they speak against the whole document.

Lines are looked at where they are written to: with citations in them they are other lines than in the text.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.c4_phrases import JAVASCRIPT, LOREM_IPSUM, POLICY, phrases
from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, DECIMAL, SPACE, character
from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.spans import with_padding
from gristmill.kernels.trim import stripped
from gristmill.kernels.vector import PADDING_BYTES, address, copy64, equal64, first_bit

NO_LIMIT = (1 << 62) - 1

_BLANK, _OPEN, _CLOSE, _CURLY = (ord(character) for character in " []{")
_FULL_STOP, _QUESTION, _EXCLAMATION, _QUOTE, _APOSTROPHE = (ord(character) for character in ".?!\"'")
_CITATIONS = np.frombuffer(b"edit]" + b"citation needed]", np.uint8)  # behind the opening bracket
_CITATION_BOUNDS = (0, 5, 21)


class Rules(NamedTuple):
    """What takes a line out."""

    max_word_characters: int
    min_words: int
    remove_citations: bool
    require_terminal_mark: bool
    drop_javascript: bool
    drop_policy: bool


class KeptLines(NamedTuple):
    """The lines of document d are number first[d] to first[d + 1]; line n is data[offsets[n]:offsets[n + 1]]."""

    first: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]
    source: npt.NDArray[np.int64]  # where each line begins in the texts, -1 if citations were taken out of it
    lorem_ipsum: npt.NDArray[np.int64]  # for each document, lines that have it
    curly: npt.NDArray[np.int64]  # lines with a curly bracket
    curly_first: npt.NDArray[np.int64]  # 1 where the first of those stands above the first of the others


@inline
def has_long_word(data, start, stop, characters, limit):
    """Whether a word of data[start:stop] has more than `limit` characters: it lies between two blanks far apart."""
    after_blank = start
    for at in range(start, stop, PADDING_BYTES):
        blanks = equal64(data, at, _BLANK)
        while blanks:
            blank = min(at + first_bit(blanks), stop)
            if blank - after_blank > limit and _longest_word(data, after_blank, blank, characters) > limit:
                return True
            after_blank = blank + 1
            blanks &= blanks - np.uint64(1)
    return stop - after_blank > limit and _longest_word(data, after_blank, stop, characters) > limit


@inline
def _longest_word(data, at, stop, characters):
    longest = np.int64(0)
    length = np.int64(0)
    while at < stop:
        here, width = character(data, at, characters)
        length = np.int64(0) if here & SPACE else length + 1
        longest = max(longest, length)
        at += width
    return longest


@inline
def has_words(data, at, stop, characters, wanted):
    """Whether data[at:stop] has so many words, as str.split() counts them."""
    words = np.int64(0)
    in_word = False
    while at < stop and words < wanted:
        here, width = character(data, at, characters)
        space = here & SPACE != 0
        words += not space and not in_word
        in_word = not space
        at += width
    return words >= wanted


@inline
def _after_citation(data, at, stop, characters):
    """Where the citation ends whose bracket opens at `at`; `at` if there is none: `[12]`, `[]`, `[edit]` ..."""
    end = at + 1
    while end < stop:
        here, width = character(data, end, characters)
        if not here & DECIMAL:
            break
        end += width
    if end < stop and data[end] == _CLOSE:
        return end + 1
    for known in range(len(_CITATION_BOUNDS) - 1):
        length = _CITATION_BOUNDS[known + 1] - _CITATION_BOUNDS[known]
        if at + 1 + length <= stop:
            same = np.int64(0)
            while same < length and data[at + 1 + same] == _CITATIONS[_CITATION_BOUNDS[known] + same]:
                same += 1
            if same == length:
                return at + 1 + length
    return at


@inline
def _copy(data, at, stop, out, o):
    for done in range(0, stop - at, PADDING_BYTES):
        copy64(out, o + done, data, at + done)
    return o + stop - at


@inline
def copy_without_citations(data, at, stop, characters, out, o):
    """Writes data[at:stop] from `o` on; where that ends."""
    plain = at
    while at < stop:
        found = equal64(data, at, _OPEN)
        next_ = at + PADDING_BYTES
        while found:
            bracket = at + first_bit(found)
            found &= found - np.uint64(1)
            if bracket >= stop:
                break
            after = _after_citation(data, bracket, stop, characters)
            if after > bracket:
                o = _copy(data, plain, bracket, out, o)
                plain = after
                next_ = after
                break
        at = next_
    return _copy(data, plain, stop, out, o)


@inline
def ends_well(data, start, stop):
    if stop == start or not _is_terminal(data[stop - 1]):
        return False
    dots = stop - start >= 3 and data[stop - 1] == _FULL_STOP
    return not (dots and data[stop - 2] == _FULL_STOP and data[stop - 3] == _FULL_STOP)


@inline
def _is_terminal(byte):
    return byte in (_FULL_STOP, _QUESTION, _EXCLAMATION, _QUOTE, _APOSTROPHE)


@inline
def has_curly_bracket(data, at, stop):
    while at < stop:
        found = equal64(data, at, _CURLY)
        if found:
            return at + first_bit(found) < stop
        at += PADDING_BYTES
    return False


RULES = types.NamedTuple([types.int64, types.int64, *[types.boolean] * 4], Rules)
_KEEP = types.int64(
    *(I64_IN, I64_IN, I64_IN, BYTES_IN, RULES, CHARACTERS_IN),
    *(I64_OUT, I64_OUT, I64_OUT, BYTES_OUT, types.Array(types.int64, 2, "C")),
)


@kernel(_KEEP)
def _keep(first, start, stop, bytes_, rules, character_tables, kept_first, kept_offsets, source, kept_bytes, found):
    characters = character_tables[0]
    data, out = address(bytes_), address(kept_bytes)
    kept = np.int64(0)
    o = np.int64(0)
    for document in range(first.size - 1):
        for line in range(first[document], first[document + 1]):
            at, end = stripped(data, start[line], stop[line], characters)
            last = data[end - 1] if end > at else 0
            if rules.require_terminal_mark and last != _CLOSE and not _is_terminal(last):
                continue
            if not has_words(data, at, end, characters, rules.min_words):
                continue
            limit = rules.max_word_characters
            if end - at > limit and has_long_word(data, at, end, characters, limit):
                continue
            if rules.remove_citations:
                after = copy_without_citations(data, at, end, characters, out, o)
            else:
                after = _copy(data, at, end, out, o)
            if rules.require_terminal_mark and not ends_well(out, o, after):
                continue
            kinds = phrases(out, o, after)
            found[0, document] += kinds & LOREM_IPSUM != 0
            if rules.drop_javascript and kinds & JAVASCRIPT:
                continue
            if has_curly_bracket(out, o, after):
                found[2, document] |= found[0, document] == 0
                found[1, document] += 1
            if rules.drop_policy and kinds & POLICY:
                continue
            source[kept] = at if after - o == end - at else -1
            kept += 1
            kept_offsets[kept] = after
            o = after
        kept_first[document + 1] = kept
    return kept


def keep_lines(lines: Any, data: npt.NDArray[np.uint8], rules: Rules) -> KeptLines:
    """`lines`: first, start and stop, as `split_lines` or `split_sentences` gives them."""
    end = int(lines.stop.max(initial=0))
    data = with_padding(data, end)
    first = np.zeros_like(lines.first)
    offsets = np.zeros(lines.start.size + 1, np.int64)
    room = np.empty(int((lines.stop - lines.start).sum()) + 2 * PADDING_BYTES, np.uint8)
    found = np.zeros((3, lines.first.size - 1), np.int64)
    source = np.empty(lines.start.size, np.int64)
    kept = _keep(lines.first, lines.start, lines.stop, data, rules, CHARACTERS, first, offsets, source, room, found)
    return KeptLines(first, offsets[: kept + 1], room, source[:kept], *found)


@kernel(types.void(I64_IN, I64_IN, BYTES_IN, types.uint8, CHARACTERS_IN, I64_OUT, I64_OUT, BYTES_OUT))
def _join(first, offsets, bytes_, separator, character_tables, joined_offsets, shifts, joined_bytes):
    characters = character_tables[0]
    data, out = address(bytes_), address(joined_bytes)
    o = np.int64(0)
    for document in range(first.size - 1):
        begin = o
        for line in range(first[document], first[document + 1]):
            if line > first[document]:
                out[o] = separator
                o += 1
            shifts[line] = o - offsets[line]
            o = _copy(data, offsets[line], offsets[line + 1], out, o)
        inner, o = stripped(out, begin, o, characters)
        if inner > begin:
            for at in range(inner, o):
                out[begin + at - inner] = out[at]
            o = begin + o - inner
            shifts[first[document] : first[document + 1]] -= inner - begin
        joined_offsets[document + 1] = o


class Joined(NamedTuple):
    """Documents, as buffers."""

    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]
    shifts: npt.NDArray[np.int64]  # how far the bytes of each line have moved


def join_lines(lines: KeptLines, separator: str) -> Joined:
    """Documents of the kept lines, parted by `separator` (one byte), without white space at their ends."""
    joined_offsets = np.zeros(lines.first.size, np.int64)
    room = np.empty(int(lines.offsets[-1]) + lines.offsets.size + 2 * PADDING_BYTES, np.uint8)
    shifts = np.zeros(lines.offsets.size - 1, np.int64)
    _join(lines.first, lines.offsets, lines.data, ord(separator), CHARACTERS, joined_offsets, shifts, room)
    return Joined(joined_offsets, room, shifts)

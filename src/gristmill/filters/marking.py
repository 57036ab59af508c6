"""Where in a text the offending part stands: what filters make their `marks` of.

What enters: one text, for a person to look at. What leaves: spans of it, in characters. Plain Python, so that a report
loads no kernel; whether a text is dropped is not decided here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from gristmill.filters.folding import folded
from gristmill.filters.words import WHITESPACE

Span = tuple[int, int]


def lines_of(text: str) -> list[Span]:
    """The lines that are not blank, without white space around them."""
    return [match.span() for match in re.finditer(r"\S(?:[^\n]*\S)?", text)]


def paragraphs_of(text: str) -> list[Span]:
    """What blank lines part."""
    return [match.span() for match in re.finditer(r"\S(?:(?!\n\n).|\n(?!\n))*", text)]


def words_of(text: str, splitter: str) -> list[Span]:
    """The words, nearly as this splitter has them (see filters/words.py): which needs no kernel, and parts `don't`
    and the like otherwise than some do."""
    pattern = r"\S+" if splitter == WHITESPACE else r"\w+|[^\w\s]"
    return [match.span() for match in re.finditer(pattern, text)]


def seen_before(text: str, spans: Iterable[Span]) -> list[Span]:
    """Those that are equal to an earlier one."""
    seen: set[str] = set()
    repeated: list[Span] = []
    for start, stop in spans:
        part = text[start:stop]
        if part in seen:
            repeated.append((start, stop))
        seen.add(part)
    return repeated


def ngrams_seen_before(text: str, spans: Sequence[Span], n: int) -> list[Span]:
    """Runs of n words that stood in the text before, one after the other, without overlap."""
    parts = [text[start:stop] for start, stop in spans]
    seen: set[str] = set()
    repeated: list[Span] = []
    at = 0
    while at + n <= len(parts):
        ngram = "".join(parts[at : at + n])
        if ngram in seen:
            repeated.append((spans[at][0], spans[at + n - 1][1]))
            at += n
        else:
            seen.add(ngram)
            at += 1
    return repeated


def most_frequent_ngram(text: str, spans: Sequence[Span], n: int) -> list[Span]:
    """All places of the run of n words that stands in the text most often, the first of several."""
    parts = [text[start:stop] for start, stop in spans]
    ngrams = [" ".join(parts[at : at + n]) for at in range(len(parts) - n + 1)]
    if not ngrams:
        return []
    top = Counter(ngrams).most_common(1)[0][0]
    return [(spans[at][0], spans[at + n - 1][1]) for at, ngram in enumerate(ngrams) if ngram == top]


def phrases_in(text: str, phrases: Iterable[str]) -> list[Span]:
    """Where phrases stand in the text as `folded` writes it, which may be shorter or longer than the text."""
    whole = folded(text)
    if len(whole) == len(text) and unicodedata.is_normalized("NFC", text):
        return [(match.start(), match.start() + len(phrase)) for phrase in phrases for match in _places(phrase, whole)]
    letters = _letters(text)
    starts: list[int] = []  # of each character of the folded text: the letter that it comes from
    for number, (start, stop) in enumerate(letters):
        starts += [number] * len(folded(text[start:stop]))
    whole = "".join(folded(text[start:stop]) for start, stop in letters)
    return [
        (letters[starts[match.start()]][0], letters[starts[match.start() + len(phrase) - 1]][1])
        for phrase in phrases
        for match in _places(phrase, whole)
    ]


def _places(phrase: str, text: str) -> Iterator[re.Match[str]]:
    """Where it stands, also where it overlaps itself."""
    return re.finditer(f"(?={re.escape(phrase)})", text)


def _letters(text: str) -> list[Span]:
    """Each character with the marks that combine with it."""
    heads = [at for at, character in enumerate(text) if at == 0 or not unicodedata.combining(character)]
    return list(zip(heads, [*heads[1:], len(text)], strict=True))


def runs_of(chosen: Iterable[bool]) -> list[Span]:
    """Characters side by side that are chosen, as spans."""
    spans: list[Span] = []
    at = 0
    for is_chosen, run in groupby(chosen):
        length = len(list(run))
        if is_chosen:
            spans.append((at, at + length))
        at += length
    return spans

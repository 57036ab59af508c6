"""Slow, obvious twin of kernels/sentences.py: spaCy's sentencizer over spaCy's tokens, and datatrove's cuts."""

from __future__ import annotations

import re

from reference.words import CLASSES, split_into_words

MARK = re.compile(f"[{CLASSES['sentence_end']}]")
PUNCTUATION = re.compile(f"[{CLASSES['punctuation']}]+")


def split_into_sentences(text: str) -> list[str]:
    cuts = [0]
    seen_mark = False
    previous_stop = 0
    for token, start in _tokens(text):
        if seen_mark and not PUNCTUATION.fullmatch(token) and not MARK.fullmatch(token):
            cuts.append(previous_stop)
            seen_mark = False
        elif MARK.fullmatch(token):
            seen_mark = True
        previous_stop = start + len(token)
    return [text[start:stop] for start, stop in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _tokens(text: str) -> list[tuple[str, int]]:
    """Words and, as spaCy has them, white space: all of it but one blank behind each word. With their positions."""
    tokens = []
    at = 0
    for word in split_into_words(text):
        start = text.index(word, at)
        tokens += [(text[at:start], at), (word, start)]
        at = start + len(word)
    tokens.append((text[at:], at))
    found = []
    for token, start in tokens:
        blank = token.isspace() and start > 0 and token.startswith(" ")
        found.append((token[1:], start + 1) if blank else (token, start))
    return [(token, start) for token, start in found if token]

"""Slow, obvious twin of kernels/repetition.py."""

from __future__ import annotations

import re
from collections import Counter


def repetition(text: str, words: list[str], top_lengths: list[int], duplicate_lengths: list[int]) -> list[float]:
    """Shares of: duplicate paragraphs, characters in them; lines, characters in them; then n-grams, one for each n."""
    if not text:
        return [0.0] * (4 + len(top_lengths) + len(duplicate_lengths))
    shares = []
    for pieces in re.split(r"\n\n+", text.strip()), re.split(r"\n+", text):
        repeated = _repeated(pieces)
        shares += [len(repeated) / len(pieces), sum(map(len, repeated)) / len(text)]
    shares += [_top_ngram(words, n) / len(text) for n in top_lengths]
    shares += [_duplicate_ngrams(words, n) / len(text) for n in duplicate_lengths]
    return shares


def _repeated(pieces: list[str]) -> list[str]:
    """The pieces that stand in the list before."""
    seen: set[str] = set()
    return [piece for piece in pieces if piece in seen or seen.add(piece)]  # type: ignore[func-returns-value]


def _top_ngram(words: list[str], n: int) -> int:
    grams = [" ".join(words[at : at + n]) for at in range(len(words) - n + 1)]
    if not grams:
        return 0
    counts = Counter(grams)
    most = max(counts.values())
    return most * len(next(gram for gram in grams if counts[gram] == most))


def _duplicate_ngrams(words: list[str], n: int) -> int:
    seen: set[str] = set()
    characters = at = 0
    while at + n <= len(words):
        gram = "".join(words[at : at + n])
        if gram in seen:
            characters += len(gram)
            at += n
        else:
            seen.add(gram)
            at += 1
    return characters

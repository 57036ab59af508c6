"""Slow, obvious twins of kernels/listed_words.py."""

from __future__ import annotations

import re

from reference.words import CLASSES

PART_OF_A_WORD = re.compile(f"[{CLASSES['word']}]")


def has_word_apart(text: str, words: list[str]) -> bool:
    for word in filter(None, words):
        for start in range(len(text)):
            around = text[max(start - 1, 0) : start] + text[start + len(word) : start + len(word) + 1]
            if text.startswith(word, start) and not PART_OF_A_WORD.search(around):
                return True
    return False


def has_word_anywhere(text: str, words: list[str]) -> bool:
    return any(word in text for word in words if word)

"""Slow, obvious twin of kernels/character_counts.py."""

from __future__ import annotations

import unicodedata


def count(text: str) -> dict[str, int]:
    return {
        "alphanumeric": sum(map(str.isalnum, text)),
        "digit": sum(map(str.isdigit, text)),
        "uppercase": sum(map(str.isupper, text)),
        "whitespace": sum(map(str.isspace, text)),
        "punctuation": sum(unicodedata.category(character).startswith("P") for character in text),
        "characters": len(text),
    }

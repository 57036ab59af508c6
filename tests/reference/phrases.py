"""Slow, obvious twin of filters/phrases.py and kernels/aho_corasick.py."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    return unicodedata.normalize("NFC", text.lower())


def find(text: str, phrases: list[str]) -> dict[str, int | str | None]:
    """In a text, and for phrases, that are folded already."""
    places = [
        (start, -len(phrase), phrase)
        for phrase in phrases
        for start in range(len(text))
        if text.startswith(phrase, start)
    ]
    return {
        "hits": len(places),
        "phrases": len({phrase for *_, phrase in places}),
        "first": min(places)[2] if places else None,
    }

"""Slow, obvious twin of kernels/quality.py."""

from __future__ import annotations

import re

from reference.words import CLASSES

ONLY_SYMBOLS = re.compile(f"[{CLASSES['symbol']}]+")
LETTER = re.compile(f"[{CLASSES['letter']}]")


def quality(text: str, words: list[str], stop_words: list[str]) -> dict[str, int]:
    plain = [word for word in words if not ONLY_SYMBOLS.fullmatch(word)]
    lines = [line.strip() for line in text.splitlines()]
    return {
        "words": len(words),
        "non_symbol_words": len(plain),
        "non_symbol_characters": sum(map(len, plain)),
        "alphabetic_words": sum(LETTER.search(word) is not None for word in words),
        "stop_words": len({word for word in words if word in stop_words}),
        "hashes": text.count("#"),
        "ellipses": text.count("...") + text.count("…"),
        "lines": len(lines),
        "bullet_lines": sum(line.startswith(("•", "-")) for line in lines),
        "ellipsis_lines": sum(line.endswith(("...", "…")) for line in lines),
    }

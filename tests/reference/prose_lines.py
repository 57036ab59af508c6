"""Slow, obvious twin of kernels/prose_lines.py."""

from __future__ import annotations

import re

from reference.words import CLASSES

TERMINAL = re.compile(f"[{CLASSES['terminal']}]")


def prose_lines(text: str, endings: list[str] | None, short_characters: int) -> dict[str, int]:
    lines = [line for line in text.split("\n") if line.strip()]
    return {
        "lines": len(lines),
        "ending_lines": sum(_ends(line, endings) for line in lines),
        "short_lines": sum(len(line) <= short_characters for line in lines),
        "duplicate_characters": sum(len(line) for at, line in enumerate(lines) if lines.index(line) < at),
        "characters": sum(character != "\n" for character in text),
        "newlines": text.count("\n"),
    }


def _ends(line: str, endings: list[str] | None) -> bool:
    if endings is None:
        return TERMINAL.fullmatch(line[-1]) is not None
    return any(line.endswith(ending) for ending in endings)

"""Slow, obvious twin of kernels/long_lines.py."""

from __future__ import annotations


def count_long_lines(text: str, characters: int) -> int:
    return sum(len(line) >= characters for line in text.split("\n"))

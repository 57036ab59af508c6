"""The slow twin of kernels/symbol_lines.py."""

from __future__ import annotations

from collections.abc import Collection


def remove_symbol_lines(text: str, symbols: Collection[str], mark: str) -> str:
    left: list[str] = []
    before_was_symbols = False
    for line in text.splitlines():
        is_symbols = bool(line.strip()) and all(character == " " or character in symbols for character in line)
        if not is_symbols:
            left.append(line)
        elif mark and not before_was_symbols:
            left.append(mark)
        before_was_symbols = is_symbols
    return "\n".join(left)

"""Slow, obvious twin of cutting spans out of texts."""

from __future__ import annotations


def without(text: bytes, spans: list[tuple[int, int, bool]]) -> bytes:
    """`text` without these spans (start, stop, whether a newline stands there instead), in order and apart."""
    left = b""
    at = 0
    for start, stop, newline in spans:
        left += text[at:start] + b"\n" * newline
        at = stop
    return left + text[at:]

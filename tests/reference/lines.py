"""What kernels/lines.py must do, on bytes that are all here and end with a newline."""

from __future__ import annotations

Span = tuple[int, int]


def lines(data: bytes) -> list[Span]:
    return [(start, stop) for start, stop in _all_lines(data) if data[start:stop].strip(b" \t\r")]


def paragraphs(data: bytes) -> list[Span]:
    found: list[Span] = []
    inside = False
    for start, stop in _all_lines(data):
        blank = not data[start:stop].strip(b" \t\r")
        if not blank:
            found.append((found.pop()[0] if inside else start, stop))
        inside = not blank
    return found


def _all_lines(data: bytes) -> list[Span]:
    spans = []
    start = 0
    for line in data.split(b"\n")[:-1]:
        spans.append((start, start + len(line.removesuffix(b"\r"))))
        start += len(line) + 1
    return spans

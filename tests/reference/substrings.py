"""Slow, obvious twin of the substring deduplicator, from the definition."""

from __future__ import annotations


def repeated_bytes(documents: list[bytes], window_bytes: int) -> list[set[int]]:
    """For each document the positions that lie in a window which occurs at an earlier position of the corpus."""
    seen: set[bytes] = set()
    covered: list[set[int]] = []
    for document in documents:
        of_document: set[int] = set()
        for position in range(len(document) - window_bytes + 1):
            window = document[position : position + window_bytes]
            if window in seen:
                of_document |= set(range(position, position + window_bytes))
            seen.add(window)
        covered.append(of_document)
    return covered


def spans(positions: set[int]) -> list[tuple[int, int]]:
    """Runs of positions as (start, stop)."""
    starts = sorted(position for position in positions if position - 1 not in positions)
    stops = sorted(position + 1 for position in positions if position + 1 not in positions)
    return list(zip(starts, stops, strict=True))


def to_characters(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The whole characters inside a span of bytes."""
    raw = text.encode()
    bounds = [len(text[:length].encode()) for length in range(len(text) + 1)]
    inside = [bound for bound in bounds if span[0] <= bound <= span[1]]
    assert len(raw) == bounds[-1]
    return (inside[0], inside[-1]) if inside else (span[0], span[0])


def to_words(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The same without the words that are partly outside. `span` is on the bounds of characters."""
    raw = text.encode()
    start, stop = (len(raw[:bound].decode()) for bound in span)
    at = 0
    for piece in _pieces(text):
        if at < start < at + len(piece):
            start = min(stop, at + len(piece))
        at += len(piece)
    at = 0
    for piece in _pieces(text):
        if at < stop < at + len(piece):
            stop = max(start, at)
        at += len(piece)
    return len(text[:start].encode()), len(text[:stop].encode())


def _pieces(text: str) -> list[str]:
    """Words, and single characters of white space."""
    pieces: list[str] = []
    for character in text:
        if pieces and not character.isspace() and not pieces[-1][-1].isspace():
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def cut(texts: list[str], window_bytes: int, to_whole_words: bool) -> list[str]:
    """What is left of each text."""
    left = []
    for text, positions in zip(texts, repeated_bytes([text.encode() for text in texts], window_bytes), strict=True):
        raw = text.encode()
        gone: set[int] = set()
        for span in spans(positions):
            bounds = to_characters(text, span)
            if to_whole_words:
                bounds = to_words(text, bounds)
            gone |= set(range(*bounds))
        left.append(bytes(byte for at, byte in enumerate(raw) if at not in gone).decode())
    return left

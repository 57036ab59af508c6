"""The slow, obvious twins of kernels/packing.py. A row is a list of segments (draw, token, length)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

Segment = tuple[int, int, int]


def _segments(tokens: Sequence[tuple[int, int]]) -> list[Segment]:
    """Runs of (draw, token) as segments."""
    runs = [list(run) for _, run in groupby(tokens, key=lambda token: token[0])]
    return [(run[0][0], run[0][1], len(run)) for run in runs]


def wrapped(lengths: Sequence[int], sequence_length: int) -> tuple[list[list[Segment]], list[Segment]]:
    """The rows, and what is cropped: the stream token by token, cut."""
    stream = [(draw, token) for draw, length in enumerate(lengths) for token in range(length)]
    full = len(stream) // sequence_length * sequence_length
    rows = [_segments(stream[i : i + sequence_length]) for i in range(0, full, sequence_length)]
    return rows, _segments(stream[full:])


def _pieces(lengths: Sequence[int], sequence_length: int) -> list[Segment]:
    return [
        (draw, token, min(sequence_length, length - token))
        for draw, length in enumerate(lengths)
        for token in range(0, length, sequence_length)
    ]


def padded(lengths: Sequence[int], sequence_length: int) -> list[list[Segment]]:
    return [[piece] for piece in _pieces(lengths, sequence_length)]


def best_fit(lengths: Sequence[int], sequence_length: int) -> list[list[Segment]]:
    """Pieces in decreasing length; each to the row with the least room that is enough, the last used of those."""
    rows: list[list[Segment]] = []
    for piece in sorted(_pieces(lengths, sequence_length), key=lambda piece: -piece[2]):
        fitting = [row for row in rows if _room(row, sequence_length) >= piece[2]]
        if fitting:
            best = min(fitting, key=lambda row: _room(row, sequence_length))
            rows.remove(best)
        else:
            best = []
        # The last used row stands first, so that `min` finds it first.
        rows.insert(0, [*best, piece])
    return sorted(sorted(row) for row in rows)


def next_fit(lengths: Sequence[int], sequence_length: int) -> list[list[Segment]]:
    """Pieces in stream order, a new row whenever the next does not fit: what best fit must never be worse than."""
    rows: list[list[Segment]] = []
    for piece in _pieces(lengths, sequence_length):
        if not rows or _room(rows[-1], sequence_length) < piece[2]:
            rows.append([])
        rows[-1].append(piece)
    return rows


def _room(row: list[Segment], sequence_length: int) -> int:
    return sequence_length - sum(length for _, _, length in row)

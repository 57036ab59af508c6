"""A text in pieces, some of them marked: what is shown of it, with long stretches between the marks left out.

What enters: a text and the spans to mark, in characters. What leaves: [piece, kind] pairs, where kind is one of KINDS;
together at most MOST_CHARACTERS long, however long the text is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PLAIN, MARKED, LEFT_OUT = 0, 1, 2  # of a piece that is left out only the number of its characters is kept
KINDS = (PLAIN, MARKED, LEFT_OUT)
MOST_CHARACTERS = 1_000
_BESIDE_A_MARK = 120
_AT_THE_BEGINNING = 160
_LONGEST_MARK = 400

Piece = tuple[str, int]
Span = tuple[int, int]


def marked(text: str, spans: Iterable[Span]) -> list[Piece]:
    """The pieces of a text with these spans marked, which may overlap and come in any order."""
    joined = _joined(spans)
    if not joined:
        return shortened([(text, PLAIN)])
    pieces: list[Piece] = []
    at = 0
    for start, stop in joined:
        pieces += [(text[at:start], PLAIN), (text[start:stop], MARKED)]
        at = stop
    return shortened([*pieces, (text[at:], PLAIN)])


def shortened(pieces: Sequence[Piece]) -> list[Piece]:
    """The same, with what lies far from any mark left out, and the end where there is too much."""
    short: list[Piece] = []
    left = MOST_CHARACTERS
    some_marked = any(kind == MARKED for _, kind in pieces)
    for number, (text, kind) in enumerate(pieces):
        if not text:
            continue
        if left <= 0:
            short.append((str(sum(len(text) for text, _ in pieces[number:])), LEFT_OUT))
            break
        for part, part_kind in _ends(text, kind, number, len(pieces)) if some_marked else [(text, kind)]:
            if part_kind != LEFT_OUT and len(part) > left:
                short += [(part[:left], part_kind), (str(len(part) - left), LEFT_OUT)]
                left = 0
            else:
                short.append((part, part_kind))
                left -= len(part) if part_kind != LEFT_OUT else 0
    return added(short)


def _ends(text: str, kind: int, number: int, pieces: int) -> list[Piece]:
    """The beginning and the end of a long piece."""
    if kind == MARKED:
        head = tail = _LONGEST_MARK // 2
    else:
        head = _BESIDE_A_MARK if number else _AT_THE_BEGINNING
        tail = _BESIDE_A_MARK if number < pieces - 1 else 0
    if len(text) <= head + tail + 40:  # it would not be shorter
        return [(text, kind)]
    left_out = (str(len(text) - head - tail), LEFT_OUT)
    return [(text[:head], kind), left_out, *([(text[-tail:], kind)] if tail else [])]


def added(pieces: list[Piece]) -> list[Piece]:
    """What is left out twice in a row is left out once."""
    result: list[Piece] = []
    for text, kind in pieces:
        if kind == LEFT_OUT and result and result[-1][1] == LEFT_OUT:
            text = str(int(text) + int(result.pop()[0]))
        result.append((text, kind))
    return result


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, stop in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        elif stop > start:
            joined.append((start, stop))
    return joined

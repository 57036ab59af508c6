from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.kernels import lines as kernels
from gristmill.kernels.vector import PADDING_BYTES
from reference import lines as twin

SOUP = [
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"\t",
    b"a",
    b"\xff",
    b"x" * 63,
    b"y" * 64,
    b" " * 65,
    b"\n\n",
    b"\n \t\r\n",
    b"\x0b",
]
texts = st.lists(st.sampled_from(SOUP), max_size=14).map(lambda parts: b"".join(parts) + b"\n")


def padded(data: bytes) -> np.ndarray:
    return np.frombuffer(data + b"\n" * PADDING_BYTES, np.uint8)


def spans(count: int, starts: np.ndarray, stops: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(starts[:count].tolist(), stops[:count].tolist(), strict=True))


@given(texts)
@example(b"\n")
@example(b"\r\n\r\n")
def test_lines_and_paragraphs_equal_their_twins(data: bytes) -> None:
    starts, stops = np.empty(len(data), np.int64), np.empty(len(data), np.int64)
    count, consumed = kernels.lines(padded(data), len(data), starts, stops)
    assert (spans(count, starts, stops), consumed) == (twin.lines(data), len(data))
    count, consumed = kernels.paragraphs(padded(data), len(data), len(data), True, starts, stops)
    assert (spans(count, starts, stops), consumed) == (twin.paragraphs(data), len(data))


@settings(max_examples=60)
@given(texts, st.data())
def test_paragraphs_stop_and_go_on_anywhere(data: bytes, draw: st.DataObject) -> None:
    """In blocks that end in the middle of something, up to any byte, a few rows at a time."""
    found = []
    begin = 0
    while begin < len(data):
        size = draw.draw(st.integers(1, len(data) - begin))
        within = draw.draw(st.integers(1, len(data) - begin))
        ended = begin + size == len(data)
        room = draw.draw(st.integers(1, 3))
        starts, stops = np.empty(room, np.int64), np.empty(room, np.int64)
        count, consumed = kernels.paragraphs(padded(data[begin : begin + size]), size, within, ended, starts, stops)
        found += [(begin + start, begin + stop) for start, stop in spans(count, starts, stops)]
        assert (starts[:count] < within).all()
        assert consumed > 0 or not ended
        begin += consumed
    assert found == twin.paragraphs(data)


@given(texts, st.integers(0, 200))
def test_newlines_are_found_from_both_ends(data: bytes, at: int) -> None:
    at = min(at, len(data))
    for size in (len(data), len(data) // 2):
        part = data[:size]
        assert kernels.after_newline(padded(data), at, size) == part.find(b"\n", at) + 1
        assert kernels.after_last_newline(padded(data), size) == part.rfind(b"\n") + 1


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_gather_copies_spans(values: list[bytes]) -> None:
    bounds = np.cumsum([0, *(len(value) + 3 for value in values)])
    starts, stops = bounds[:-1], bounds[1:] - 3
    offsets, out = np.empty(len(values) + 1, np.int64), np.empty(sum(map(len, values)) + PADDING_BYTES, np.uint8)
    kernels.gather(padded(b"".join(value + b"---" for value in values)), starts, stops, offsets, out)
    assert [out[a:b].tobytes() for a, b in pairwise(offsets)] == values

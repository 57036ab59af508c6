from __future__ import annotations

import csv
import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.kernels.delimited import BROKEN, scan, unquote
from gristmill.kernels.vector import PADDING_BYTES
from reference import delimited as twin

SOUP = [
    b",",
    b"\n",
    b'"',
    b'""',
    b"a",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"\xff",
    b"x" * 63,
    b'"y"',
    b'"a,b"',
    b'"c\nd",',
    b"z" * 64,
]
soup = st.lists(st.sampled_from(SOUP), max_size=20).map(lambda parts: b"".join(parts) + b"\n")


def padded(data: bytes) -> np.ndarray:
    return np.frombuffer(data + b'"' * PADDING_BYTES, np.uint8)


def run(data: bytes, wanted: list[int], fields: int, longest: int, within: int, ended: bool, capacity: int) -> tuple:
    room = [np.empty(capacity, kind) for kind in (np.int64, np.uint8)]
    room += [np.empty(capacity * len(wanted), kind) for kind in (np.uint8, np.int64, np.int64)]
    lines, verdicts, kinds, starts, stops = room
    block, numbers = padded(data), np.array(wanted, np.int64)
    count, consumed = scan(block, len(data), within, ended, longest, ord(","), fields, numbers, *room)
    found = []
    for row in range(count):
        values = None
        if verdicts[row] != BROKEN:
            at = [n * capacity + row for n in range(len(wanted))]
            offsets = np.empty(len(wanted) + 1, np.int64)
            out = np.empty(int((stops[at] - starts[at]).sum()) + PADDING_BYTES, np.uint8)
            unquote(block, starts[at], stops[at], kinds[at], offsets, out)
            values = [out[a:b].tobytes() for a, b in pairwise(offsets)]
        found.append(twin.Record(int(lines[row]), values))
    return found, consumed


@settings(max_examples=400)
@given(soup, st.integers(1, 4), st.sampled_from([3, 20, 70, 1000]))
@example(b'a,"b""c"\r\n"d\ne",f\n"stray,g\nh,i\n', 2, 1000)
def test_scan_and_unquote_equal_their_twin(data: bytes, fields: int, longest: int) -> None:
    found, consumed = run(data, list(range(fields)), fields, longest, len(data), True, len(data))
    assert consumed == len(data)
    assert found == twin.records(data, b",", fields, longest)


@settings(max_examples=60)
@given(soup, st.data())
def test_scan_stops_and_goes_on_anywhere(data: bytes, draw: st.DataObject) -> None:
    """In blocks that end in the middle of something, up to any byte, a few rows at a time."""
    found = []
    begin = 0
    while begin < len(data):
        size = draw.draw(st.integers(1, len(data) - begin))
        within = draw.draw(st.integers(1, len(data) - begin))
        ended = begin + size == len(data)
        rows, consumed = run(data[begin : begin + size], [1, 0], 2, 70, within, ended, draw.draw(st.integers(1, 3)))
        assert all(row.start < within for row in rows)
        assert consumed > 0 or not ended
        found += [twin.Record(begin + row.start, row.fields) for row in rows]
        begin += consumed
    expected = [twin.Record(row.start, row.fields and row.fields[::-1]) for row in twin.records(data, b",", 2, 70)]
    assert found == expected


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=2, max_size=2)
    )
)
def test_what_the_csv_module_writes_is_read_back(rows: list[list[str]]) -> None:
    for style in ("excel", "unix"):
        file = io.StringIO(newline="")
        csv.writer(file, dialect=style).writerows(rows)
        data = file.getvalue().encode()
        found, _ = run(data, [0, 1], 2, 1 << 20, len(data), True, len(data) + 1)
        assert [row.fields for row in found] == [[value.encode() for value in row] for row in rows]


@pytest.mark.parametrize(
    ("data", "good"),
    [
        (b'a,"b"\n', 1),
        (b'a,"b"x\n', 0),  # something follows a closing quote
        (b"a\n", 0),  # too few fields
        (b"a,b,c\n", 0),  # too many
        (b'a,b"c\n', 1),  # a quote inside a field that does not begin with one
        (b'a,"b\nc,d\ne,f\n', 2),  # a stray quote costs one line
    ],
)
def test_dialect(data: bytes, good: int) -> None:
    found, _ = run(data, [0, 1], 2, 1 << 20, len(data), True, 9)
    assert sum(row.fields is not None for row in found) == good

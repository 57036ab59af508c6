from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.kernels.json_text import LONGEST_ESCAPE_BYTES, quote, unescape
from gristmill.kernels.jsonl import MAX_DEPTH, scan
from gristmill.kernels.vector import PADDING_BYTES
from reference import jsonl as twin

NAMES = [b"text", b"id", "né\n".encode(), b""]
# What JSON is made of, and what it is not made of.
TOKENS = [
    *("{", "}", "[", "]", ":", ",", '"', "\\", " ", "\t", "\r", "\n", "{}", "[]", '{"a":', "[1,", '""'),
    *('"text"', '"id"', '"t\\u0065xt"', '"n\\u00e9\\n"', '"né\\u000a"', '"text\\u"', '"tex\\t"', "text"),
    *("null", "true", "false", "nul", "True", "NaN", "Infinity", "-Infinity", "-NaN", "nan"),
    *("0", "-0", "-", "01", "1.", ".5", "1.5e", "1e5", "-1.25E-3", "1e+", "9" * 400, "0x1", "+1", "1_0"),
    *('"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00x"', '"\\ud83d\\ud83d\\ude00"', '"\\ud83d\\n"', '"\\ud83d\\u0041"'),
    *('"\\u12"', '"\\u12g4"', '"\\uABcd"', '"\\x41"', '"\\/\\b\\f\\n\\r\\t\\"\\\\"', '"\\', '"\\u', '"\x7f\u2028"'),
    *('"\x00"', '"\x1f"', "\x0b", "\ufeff", "\xa0", "'", "/*", "x" * 70, '"' + "y" * 63 + '"', '"' + "z" * 64 + '\\n"'),
]
RAW = [b"\xff", b'"\xff"', b'"\xc3"', b'"\xed\xa0\x80"', b"\xc3\xa9", b'"text":"\x80\\u00e9"']

tokens = st.one_of(st.sampled_from(TOKENS).map(str.encode), st.sampled_from(RAW))
soup = st.lists(tokens, max_size=12).map(b"".join)
keys = st.one_of(st.sampled_from(["text", "id", "né\n", ""]), st.text(max_size=5))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=80)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=6,
)


@st.composite
def objects(draw: Any) -> bytes:
    """An object with keys that may be repeated, written in one of several ways, and sometimes damaged."""
    as_ascii = draw(st.booleans())
    separator, colon = draw(st.sampled_from([(", ", ": "), (",", ":"), (" \t,", "\r: ")]))
    members = [
        f"{json.dumps(key, ensure_ascii=as_ascii)}{colon}{json.dumps(value, ensure_ascii=as_ascii)}"
        for key, value in draw(st.lists(st.tuples(keys, values), max_size=5))
    ]
    line = bytearray(("{" + separator.join(members) + "}").encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        at = draw(st.integers(0, len(line)))
        line[at : at + draw(st.integers(0, 2))] = draw(tokens)
    return bytes(line)


def padded(data: bytes) -> np.ndarray:
    return np.frombuffer(data + b"\x5c" * PADDING_BYTES, np.uint8)


def run(data: bytes, names: list[bytes], capacity: int) -> list[twin.Line]:
    block = padded(data)
    bounds = np.cumsum([0, *map(len, names)])
    lines, verdicts = np.empty(capacity, np.int64), np.empty(capacity, np.uint8)
    kinds, starts, stops = (np.empty(capacity * len(names), kind) for kind in (np.uint8, np.int64, np.int64))
    name_bytes = np.frombuffer(b"".join(names), np.uint8)
    count, consumed = scan(block, len(data), name_bytes, bounds, lines, verdicts, kinds, starts, stops)
    assert count < capacity and consumed == len(data)
    offsets = np.empty(2, np.int64)
    found = []
    for row in range(count):
        row_values = []
        for n in range(len(names)):
            start, stop = (each[n * capacity + row : n * capacity + row + 1] for each in (starts, stops))
            kind = int(kinds[n * capacity + row]) if verdicts[row] == twin.GOOD else twin.MISSING
            if kind == twin.MISSING:
                row_values.append(twin.Value(kind, b"", None))
                continue
            plain = None
            if kind == twin.STRING:
                out = np.empty(int(stop[0] - start[0]) + PADDING_BYTES, np.uint8)
                unescape(block, start, stop, offsets, out)
                plain = out[: offsets[1]].tobytes()
            row_values.append(twin.Value(kind, data[start[0] : stop[0]], plain))
        found.append(twin.Line(int(lines[row]), int(verdicts[row]), row_values))
    return found


@settings(max_examples=400)
@given(st.lists(st.one_of(soup, objects()), min_size=1, max_size=4))
@example([token.encode() for token in TOKENS])
@example(RAW)
@example(
    [b'{"text": "a", "text": null}', b'{"text": 1, "t\\u0065xt": "\\ud800"}', b'{"a": 1,}', b"{,}", b'{"a" 1}', b"[1,]"]
)
@example(
    [
        b'{"text": "\xff\\u00e9\xc3"}\r',
        b" \t\r",
        b'\xef\xbb\xbf{"text": ""}',
        b'{"text": [{"text": "inner"}]}',
        b'{"":{}}',
    ]
)
def test_scan_and_unescape_equal_json_loads(lines: list[bytes]) -> None:
    data = b"\n".join(lines) + b"\n"
    assert run(data, NAMES, data.count(b"\n") + 1) == twin.scan(data, NAMES)


@pytest.mark.parametrize("opener", [b"[", b'{"a":'])
def test_nesting_is_followed_to_max_depth_and_refused_beyond(opener: bytes) -> None:
    closer = b"]" if opener == b"[" else b"}"

    def line(depth: int) -> bytes:
        inner = depth - 1  # the line's own object is one level
        return b'{"text": ' + opener * inner + b"1" + closer * inner + b"}\n"

    verdicts = [found.verdict for found in run(line(MAX_DEPTH) + line(MAX_DEPTH + 1), [b"text"], 3)]
    assert verdicts == [twin.GOOD, twin.BROKEN]


def test_every_single_byte_and_every_byte_after_a_backslash() -> None:
    for template in (b"%c", b'"%c"', b'{"text": "\\%c"}', b'{"text": "\\u0%c0A"}', b'{"text": %c}', b'{"text": 1%c}'):
        data = b"\n".join(template % byte for byte in range(256) if byte != 10) + b"\n"
        assert run(data, NAMES, 300) == twin.scan(data, NAMES)


def test_a_full_table_of_rows_stops_the_scan_between_lines() -> None:
    data = b'{"text": "one"}\n\n{"text": "two"}\n{"text": "three"}\n'
    lines, verdicts, kinds = np.empty(2, np.int64), np.empty(2, np.uint8), np.empty(2, np.uint8)
    starts, stops = np.empty(2, np.int64), np.empty(2, np.int64)
    name, bounds = np.frombuffer(b"text", np.uint8), np.array([0, 4])
    assert scan(padded(data), len(data), name, bounds, lines, verdicts, kinds, starts, stops) == (2, 33)
    assert [data[a:b] for a, b in zip(starts, stops, strict=True)] == [b"one", b"two"]


@given(st.lists(st.text(max_size=150), max_size=4))
@example(["".join(map(chr, range(0x80))), '"' * 70, "\\" * 64 + "é", "x" * 64 + "\n", "x" * 63 + "\0"])
def test_quote_equals_json_dumps(texts: list[str]) -> None:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    bounds = np.cumsum([0, *map(len, encoded)])
    offsets = np.empty(len(bounds), np.int64)
    out = np.empty(LONGEST_ESCAPE_BYTES * int(bounds[-1]) + 2 * len(texts) + PADDING_BYTES, np.uint8)
    quote(padded(b"".join(encoded)), bounds[:-1], bounds[1:], offsets, out)
    quoted = [out[a:b].tobytes() for a, b in pairwise(offsets)]
    assert quoted == [json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass") for text in texts]

"""What kernels/jsonl.py and kernels/json_text.py must do, by `json.loads`."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

GOOD, BROKEN, NOT_AN_OBJECT = range(3)
MISSING, NULL, STRING, OTHER = range(4)

# Bytes beyond ASCII go through `json.loads` as characters that no test writes as an escape.
_STAND_IN = 0x10FF00
_SPACE = re.compile(r"[ \t\r]*")


class Value(NamedTuple):
    kind: int
    span: bytes  # as written; of a string, what stands between its quotes
    plain: bytes | None  # of a string, unescaped


class Line(NamedTuple):
    start: int
    verdict: int
    values: list[Value]


def scan(data: bytes, names: list[bytes]) -> list[Line]:
    lines = []
    start = 0
    for line in data.split(b"\n"):
        if line.strip(b" \t\r"):
            lines.append(_judge(line, start, names))
        start += len(line) + 1
    return lines


def _judge(line: bytes, start: int, names: list[bytes]) -> Line:
    text = line.decode("latin-1").translate({byte: _STAND_IN + byte for byte in range(0x80, 0x100)})
    text = text.strip(" \t\r")
    missing = [Value(MISSING, b"", None)] * len(names)
    decoder = json.JSONDecoder(parse_int=str)
    try:
        found = decoder.decode(text)
    except (ValueError, RecursionError):
        return Line(start, BROKEN, missing)
    if not isinstance(found, dict):
        return Line(start, NOT_AN_OBJECT, missing)
    values = dict(_members(text, decoder))
    return Line(start, GOOD, [values.get(name, missing[0]) for name in names])


def _members(text: str, decoder: json.JSONDecoder) -> Any:
    """The members of an object that is known to be well formed, in the order in which they are written."""
    at = _after_space(text, 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + 1)
        value, stop = decoder.raw_decode(text, at)
        written = _bytes(text[at:stop])
        if value is None:
            yield _bytes(key), Value(NULL, written, None)
        elif text[at] == '"':
            yield _bytes(key), Value(STRING, written[1:-1], _bytes(value))
        else:
            yield _bytes(key), Value(OTHER, written, None)
        at = _after_space(text, stop)
        if text[at] == ",":
            at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match
    return match.end()


def _bytes(text: str) -> bytes:
    def encode(character: str) -> bytes:
        byte = ord(character) - _STAND_IN
        return bytes([byte]) if 0x80 <= byte < 0x100 else character.encode("utf-8", "surrogatepass")

    return b"".join(map(encode, text))

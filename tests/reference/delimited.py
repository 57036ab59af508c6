"""What kernels/delimited.py must do, a byte at a time, on bytes that are all here and end with a newline."""

from __future__ import annotations

from typing import NamedTuple


class Record(NamedTuple):
    start: int
    fields: list[bytes] | None  # None: broken


def records(data: bytes, delimiter: bytes, fields: int, longest: int) -> list[Record]:
    found = []
    at = 0
    while at < len(data):
        if data.startswith((b"\n", b"\r\n"), at):
            at = data.index(b"\n", at) + 1
            continue
        values, stop = _record(data[: at + longest], at, delimiter)
        if values is None:
            stop = data.index(b"\n", at) + 1
        elif fields and len(values) != fields:
            values = None
        found.append(Record(at, values))
        at = stop
    return found


def _record(data: bytes, at: int, delimiter: bytes) -> tuple[list[bytes] | None, int]:
    values = []
    while True:
        if data[at : at + 1] == b'"':
            value = bytearray()
            at += 1
            while data[at : at + 1] != b'"' or data[at + 1 : at + 2] == b'"':
                if at + 1 >= len(data):
                    return None, 0
                at += data[at : at + 2] == b'""'
                value.append(data[at])
                at += 1
            at += 1
            if data[at : at + 2] == b"\r\n":
                at += 1
        else:
            stop = at
            while stop < len(data) and data[stop : stop + 1] not in (delimiter, b"\n"):
                stop += 1
            value = bytearray(data[at:stop])
            if data[stop : stop + 1] == b"\n" and value.endswith(b"\r"):
                value.pop()
            at = stop
        values.append(bytes(value))
        if data[at : at + 1] == b"\n":
            return values, at + 1
        if data[at : at + 1] != delimiter:
            return None, 0
        at += 1

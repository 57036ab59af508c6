"""Where IPv4 addresses stand in texts: datatrove's regular expression and `ipaddress`, without either.

What enters: the buffers of a string column (valid UTF-8). What leaves: spans, by document and then by position, none
of which overlaps another. Guaranteed: the spans are those that datatrove 0.10.1's PIIFormatter would replace
(tests/reference/personal.py has its expression).

It begins with a search for dots, 64 bytes at a time. Around a dot between digits there is one way at most to read
three numbers; of the fourth only the front may belong to an address (`1.2.3.400` begins with `1.2.3.40`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_IN, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.find import count_byte
from gristmill.kernels.spans import with_padding
from gristmill.kernels.vector import PADDING_BYTES, address, equal64, first_bit

_DOT, _ZERO = ord("."), ord("0")

# First and last addresses that are not public: IANA's registry of special-purpose addresses as Python's `ipaddress`
# reads it since 3.11.10, 3.12.4 and 3.13. Before, it took 192.0.0.8 to 192.0.0.255 for public, too.
_SPECIAL = (
    ("0.0.0.0", "0.255.255.255"),
    ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("169.254.0.0", "169.254.255.255"),
    ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.8"),
    ("192.0.0.11", "192.0.0.255"),
    ("192.0.2.0", "192.0.2.255"),
    ("192.168.0.0", "192.168.255.255"),
    ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"),
    ("240.0.0.0", "255.255.255.255"),
)


def _number(text: str) -> int:
    return int.from_bytes(bytes(map(int, text.split("."))), "big")


_NOT_PUBLIC = np.array([_number(bound) for bounds in _SPECIAL for bound in bounds], np.int64)
_NOTHING = np.empty(0, np.int64)


class Spans(NamedTuple):
    """Some spans of bytes of a string column: the number of the document, and absolute bounds."""

    documents: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    stops: npt.NDArray[np.int64]


@inline
def is_digit(byte):
    return 0x30 <= byte <= 0x39


@inline
def octet_stop(data, at, stop):
    """The end of the digits from `at` on, if all of them make a number up to 255; -1 where not."""
    value = np.int64(0)
    i = at
    while i < stop and i < at + 4 and is_digit(data[i]):
        value = 10 * value + data[i] - _ZERO
        i += 1
    return np.int64(i) if at < i < at + 4 and value < 256 else np.int64(-1)


@inline
def dotted_octets_stop(data, at, stop, count):
    """The end of so many octets with a dot behind each; -1 where they are not there."""
    for _ in range(count):
        at = octet_stop(data, at, stop)
        if at < 0 or at == stop or data[at] != _DOT:
            return np.int64(-1)
        at += 1
    return np.int64(at)


@inline
def _last_octet_stop(data, at, stop):
    """The end of as many digits from `at` on as make a number up to 255: what stands behind does not matter."""
    i = at
    while i < stop and i < at + 3 and is_digit(data[i]):
        i += 1
    if i == at + 3 and octet_stop(data, at, i) < 0:
        i -= 1
    return np.int64(i) if i > at else np.int64(-1)


@inline
def _first_octet_start(data, free, dot):
    """Where the first octet of an address begins whose first dot this is, as far left as can be."""
    start = dot
    while start > free and start > dot - 3 and is_digit(data[start - 1]):
        start -= 1
    if start == dot - 3 and octet_stop(data, start, dot) < 0:
        start += 1
    return np.int64(start) if start < dot else np.int64(-1)


@inline
def _address_value(data, start, stop):
    """The address as a number; -1 where an octet has a zero in front, which Python does not take for an address."""
    value = np.int64(0)
    octet = np.int64(0)
    for at in range(start, stop):
        if data[at] == _DOT:
            value = value << 8 | octet
            octet = np.int64(0)
        else:
            if octet == 0 and at > start and data[at - 1] == _ZERO:
                return np.int64(-1)
            octet = 10 * octet + data[at] - _ZERO
    return value << 8 | octet


@inline
def _is_within(value, bounds):
    within = False
    for k in range(0, bounds.size, 2):
        within |= bounds[k] <= value <= bounds[k + 1]
    return within


@kernel(types.int64(I64_IN, BYTES_IN, I64_IN, I64_OUT, I64_OUT, I64_OUT))
def _find_addresses(offsets, bytes_, passed_over, documents, starts, stops):
    data = address(bytes_)
    count = 0
    for document in range(offsets.size - 1):
        end = offsets[document + 1]
        free = offsets[document]
        for block in range(free, end, PADDING_BYTES):
            found = equal64(data, block, _DOT)
            while found:
                dot = block + first_bit(found)
                found &= found - np.uint64(1)
                if dot >= end:
                    break
                if dot <= free or not is_digit(data[dot - 1]) or not is_digit(data[dot + 1]):
                    continue
                last = dotted_octets_stop(data, dot + 1, end, 2)
                start = _first_octet_start(data, free, dot)
                if last < 0 or start < 0:
                    continue
                stop = _last_octet_stop(data, last, end)
                if stop < 0:
                    continue
                free = stop  # matched, whether it is replaced or not
                value = _address_value(data, start, stop)
                if value < 0 or _is_within(value, passed_over):
                    continue
                documents[count] = document
                starts[count] = start
                stops[count] = stop
                count += 1
    return count


@kernel(types.int64(BYTES_IN, types.int64, types.int64, types.uint8))
def occurrences(bytes_, start, stop, byte):
    return count_byte(address(bytes_), start, stop, byte)


def room_for(capacity: int) -> Spans:
    return Spans(np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int64))


def find_addresses(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Spans:
    """The IPv4 addresses in each text."""
    return _addresses(offsets, data, _NOTHING)


def find_public_addresses(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Spans:
    """The IPv4 addresses in each text that anybody on the internet may have."""
    return _addresses(offsets, data, _NOT_PUBLIC)


def _addresses(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], passed_over: npt.NDArray[np.int64]
) -> Spans:
    data = with_padding(data, int(offsets[-1]))
    room = room_for(int(occurrences(data, offsets[0], offsets[-1], _DOT)) // 3)
    count = _find_addresses(offsets, data, passed_over, *room) if len(room.starts) else 0
    return Spans(*(each[:count] for each in room))

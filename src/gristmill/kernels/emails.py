"""Where e-mail addresses stand in texts: datatrove's regular expression, without `re`.

What enters: the buffers of a string column (valid UTF-8). What leaves: spans, by document and then by position, none
of which overlaps another. Guaranteed: the spans are those that datatrove 0.10.1's PIIFormatter would replace
(tests/reference/personal.py has its expression).

It begins with a search for `@`, 64 bytes at a time. Around one there is one way at most to read the characters, apart
from where the local part begins: at the leftmost word boundary from which no dot touches a dot.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.addresses import Spans, dotted_octets_stop, occurrences, octet_stop, room_for
from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, WORD, character
from gristmill.kernels.compile import BYTES_IN, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.spans import with_padding
from gristmill.kernels.vector import PADDING_BYTES, address, equal64, first_bit

_AT, _DOT, _DASH, _COLON, _OPEN, _CLOSE, _UNDERLINE = (ord(mark) for mark in "@.-:[]_")
# What a local part is made of beside dots: bit k of the first word is character k, of the second character 64 + k.
_LOCAL = [ord(mark) for mark in "!#$%&'*+-/=?^_`{|}~0123456789"] + [*range(0x41, 0x5B), *range(0x61, 0x7B)]
_LOCAL_LOW = np.uint64(sum(1 << code for code in _LOCAL if code < 64))
_LOCAL_HIGH = np.uint64(sum(1 << (code - 64) for code in _LOCAL if code >= 64))


@inline
def _is_alphanumeric(byte):
    return 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A or 0x61 <= byte <= 0x7A


@inline
def _is_local(byte):
    bits = _LOCAL_LOW if byte < 64 else _LOCAL_HIGH
    return byte < 128 and (bits >> np.uint64(byte & 63)) & np.uint64(1) != np.uint64(0)


@inline
def _is_word(byte):
    return _is_alphanumeric(byte) or byte == _UNDERLINE


@inline
def _follows_word(data, at, begin, characters):
    """Whether the character before `at` is one of `\\w`."""
    if at == begin:
        return False
    last = at - 1
    if data[last] < 0x80:
        return _is_word(data[last])
    while data[last] & 0xC0 == 0x80:
        last -= 1
    return character(data, last, characters)[0] & WORD != 0


@inline
def _local_start(data, begin, free, at_sign, characters):
    """Where the local part before the `@` begins, at `free` at the earliest; -1 where there is none."""
    at = at_sign
    if at == free or not _is_local(data[at - 1]):
        return np.int64(-1)
    while at > free and (_is_local(data[at - 1]) or (data[at - 1] == _DOT and data[at] != _DOT)):
        at -= 1
    while at < at_sign:
        if _is_local(data[at]) and _follows_word(data, at, begin, characters) != _is_word(data[at]):
            return np.int64(at)
        at += 1
    return np.int64(-1)


@inline
def _name_stop(data, at, stop):
    """The end of the letters, digits and dashes from `at` on."""
    while at < stop and (_is_alphanumeric(data[at]) or data[at] == _DASH):
        at += 1
    return at


@inline
def _literal_stop(data, at, stop):
    """The end of a domain in brackets whose inside begins at `at`; -1 where there is none."""
    at = dotted_octets_stop(data, at, stop, 3)
    if at < 0:
        return np.int64(-1)
    octet = octet_stop(data, at, stop)
    if 0 <= octet < stop and data[octet] == _CLOSE:
        return octet + 1
    name = _name_stop(data, at, stop)
    if name > at and data[name - 1] != _DASH and name + 1 < stop and data[name] == _COLON and data[name + 1] == _CLOSE:
        return np.int64(name + 2)
    return np.int64(-1)


@inline
def _domain_stop(data, at, stop):
    """The end of the domain that begins at `at`; -1 where there is none. It has two names at least."""
    if at < stop and data[at] == _OPEN:
        return _literal_stop(data, at + 1, stop)
    names = 0
    last = at
    while at < stop and _is_alphanumeric(data[at]):
        end = _name_stop(data, at, stop)
        inner = end
        while data[inner - 1] == _DASH:
            inner -= 1
        names += 1
        last = inner
        if inner < end or end == stop or data[end] != _DOT:
            break
        at = end + 1
    return np.int64(last) if names > 1 else np.int64(-1)


@kernel(types.int64(I64_IN, BYTES_IN, CHARACTERS_IN, I64_OUT, I64_OUT, I64_OUT))
def _find_emails(offsets, bytes_, character_tables, documents, starts, stops):
    characters = character_tables[0]
    data = address(bytes_)
    count = 0
    for document in range(offsets.size - 1):
        begin, end = offsets[document], offsets[document + 1]
        free = begin
        for block in range(begin, end, PADDING_BYTES):
            found = equal64(data, block, _AT)
            while found:
                at_sign = block + first_bit(found)
                found &= found - np.uint64(1)
                if at_sign >= end:
                    break
                start = _local_start(data, begin, free, at_sign, characters)
                if start < 0:
                    continue
                stop = _domain_stop(data, at_sign + 1, end)
                if stop < 0:
                    continue
                documents[count] = document
                starts[count] = start
                stops[count] = stop
                count += 1
                free = stop
    return count


def find_emails(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Spans:
    """The e-mail addresses in each text."""
    data = with_padding(data, int(offsets[-1]))
    room = room_for(int(occurrences(data, offsets[0], offsets[-1], _AT)))
    count = _find_emails(offsets, data, CHARACTERS, *room) if len(room.starts) else 0
    return Spans(*(each[:count] for each in room))

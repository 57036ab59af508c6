"""JSON strings to plain bytes and back, a column at a time.

What enters: strings as spans of one buffer: for `unescape` what stands between the quotes of well-formed JSON
strings, for `quote` any bytes. What leaves: an Arrow-shaped column, int64 offsets and bytes.

Bytes that are no escape are copied as they are, so invalid UTF-8 passes. An escaped surrogate without its partner
becomes its three bytes of generalised UTF-8 (WTF-8), which the cleaner takes out again.

Every input buffer has PADDING_BYTES readable bytes after its last span, every output as many spare ones.

Tried and rejected (figures as in kernels/jsonl.py): copying 64 bytes before looking whether an escape stands there,
1,150 MB/s instead of 2,700 on Japanese that is all escapes; writing UTF-8 without branches, no gain.
"""

from __future__ import annotations

import numpy as np
from numba import types

from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.vector import PADDING_BYTES, address, below64, copy64, equal64, first_bit

QUOTE, BACKSLASH = 0x22, 0x5C
LETTER_U = 0x75
LONGEST_ESCAPE_BYTES = 6  # one byte as \u0041
NOT_HEX = 0x10000

_HIGH, _LOW, _END = 0xD800, 0xDC00, 0xE000  # surrogates: the high ones, the low ones

_HEX_VALUES = np.full(256, NOT_HEX, np.int64)
for _digit in b"0123456789abcdefABCDEF":
    _HEX_VALUES[_digit] = int(chr(_digit), 16)

# The byte that a letter after a backslash stands for, and back; 0 for letters and bytes without such a form.
_SHORT_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MEANINGS = np.zeros(256, np.uint8)
_LETTERS = np.zeros(256, np.uint8)
for _letter, _meaning in _SHORT_ESCAPES.items():
    _MEANINGS[ord(_letter)] = ord(_meaning)
    _LETTERS[ord(_meaning)] = ord(_letter)


@inline
def short_escape(letter):
    """The byte that a backslash and this letter stand for; 0 where they stand for none."""
    return address(_MEANINGS)[letter]


@inline
def code_unit(data, i):
    """The number that four hexadecimal digits write; NOT_HEX or more where they are not four."""
    hex_values = address(_HEX_VALUES)
    upper = hex_values[data[i]] << 12 | hex_values[data[i + 1]] << 8
    return upper | hex_values[data[i + 2]] << 4 | hex_values[data[i + 3]]


@inline
def _put_character(out, o, code):
    if code < 0x80:
        out[o] = code
        return o + 1
    if code < 0x800:
        out[o] = 0xC0 | code >> 6
        out[o + 1] = 0x80 | code & 0x3F
        return o + 2
    if code < 0x10000:
        out[o] = 0xE0 | code >> 12
        out[o + 1] = 0x80 | code >> 6 & 0x3F
        out[o + 2] = 0x80 | code & 0x3F
        return o + 3
    out[o] = 0xF0 | code >> 18
    out[o + 1] = 0x80 | code >> 12 & 0x3F
    out[o + 2] = 0x80 | code >> 6 & 0x3F
    out[o + 3] = 0x80 | code & 0x3F
    return o + 4


@inline
def unescape_one(data, i, stop, out, o):
    """Write the string in data[i:stop] to `out` from o on; returns where it ends there."""
    while i < stop:
        if data[i] != BACKSLASH:
            copy64(out, o, data, i)
            plain = min(first_bit(equal64(data, i, BACKSLASH)), stop - i)
            i += plain
            o += plain
        elif data[i + 1] != LETTER_U:
            out[o] = short_escape(data[i + 1])
            i += 2
            o += 1
        else:
            code = code_unit(data, i + 2)
            i += 6
            if _HIGH <= code < _LOW and i + 6 <= stop and data[i] == BACKSLASH and data[i + 1] == LETTER_U:
                low = code_unit(data, i + 2)
                if _LOW <= low < _END:
                    code = 0x10000 + ((code - _HIGH) << 10 | low - _LOW)
                    i += 6
            o = _put_character(out, o, code)
    return o


@kernel(types.void(BYTES_IN, I64_IN, I64_IN, I64_OUT, BYTES_OUT))
def unescape(data, starts, stops, offsets, out):
    """Unescape the strings data[starts[k]:stops[k]] into `out`, one after another, and fill `offsets`.

    No string grows, so `out` needs the sum of their lengths, and the padding.
    """
    o = 0
    offsets[0] = 0
    for k in range(len(starts)):
        o = unescape_one(address(data), starts[k], stops[k], address(out), o)
        offsets[k + 1] = o


@inline
def _hex_digit(value):
    return value + (0x30 if value < 10 else 0x57)


@kernel(types.void(BYTES_IN, I64_IN, I64_IN, I64_OUT, BYTES_OUT))
def quote(data, starts, stops, offsets, out):
    r"""Write data[starts[k]:stops[k]] as JSON strings, quotes included; only what must be escaped is.

    `out` needs LONGEST_ESCAPE_BYTES for each byte, 2 for each string, and the padding.
    """
    source, target, letters = address(data), address(out), address(_LETTERS)
    o = 0
    offsets[0] = 0
    for k in range(len(starts)):
        i, stop = starts[k], stops[k]
        target[o] = QUOTE
        o += 1
        while i < stop:
            copy64(target, o, source, i)
            special = equal64(source, i, QUOTE) | equal64(source, i, BACKSLASH) | below64(source, i, 0x20)
            plain = min(first_bit(special), stop - i)
            i += plain
            o += plain
            if i < stop and plain < PADDING_BYTES:
                byte = source[i]
                target[o] = BACKSLASH
                if letters[byte]:
                    target[o + 1] = letters[byte]
                    o += 2
                else:
                    target[o + 1] = LETTER_U
                    target[o + 2] = 0x30
                    target[o + 3] = 0x30
                    target[o + 4] = _hex_digit(byte >> 4)
                    target[o + 5] = _hex_digit(byte & 15)
                    o += 6
                i += 1
        target[o] = QUOTE
        o += 1
        offsets[k + 1] = o

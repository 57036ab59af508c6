r"""JSON Lines: whole lines of bytes in; a verdict on each, and where the wanted values stand, out.

Every line gets the verdict of Python's `json.loads`, and keys are found as it would find them: the last of several
equal keys counts, and a key may be written with escapes. Three exceptions, all on purpose: bytes that are not UTF-8
pass inside strings (the cleaner's work), numbers are never converted (so none is too long), and nesting deeper than
MAX_DEPTH is refused alike on every version of Python.

One core of an AMD EPYC (Zen 5), MB of file a second, `scan` and `unescape` of two keys in blocks of 8 MB, best of 7
(../shared/corpora, and made-up rows). For comparison: `json.loads` 610, pyarrow.json 1,100 on english-docs.

    english-docs 2,450    vietnamese-wiki 3,600    code 2,100    ja 2,600
    with every character beyond ASCII written \uXXXX: vietnamese-wiki 600, ja 1,540
    rows of 40 bytes 900    rows of 200 small numbers 1,100

Tried and rejected, in the same order of corpora:

- A byte at a time: 1,170, 1,310, 940, 1,200.
- Blocks of 32 bytes, each looked through by a loop that LLVM vectorises, then byte by byte: 1,040, 1,430, 730, 1,080.
- Arrays instead of addresses as arguments of the small functions, so that numba counts references to them: 2,100,
  2,850, 1,820, 2,280; but 140 on the short rows and 130 on the numbers.
"""

from __future__ import annotations

import numpy as np
from numba import types

from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.json_text import (
    BACKSLASH,
    LETTER_U,
    LONGEST_ESCAPE_BYTES,
    NOT_HEX,
    QUOTE,
    code_unit,
    short_escape,
    unescape_one,
)
from gristmill.kernels.vector import PADDING_BYTES, address, below64, equal64, first_bit

MAX_DEPTH = 1024

# What a line is.
GOOD, BROKEN, NOT_AN_OBJECT = 0, 1, 2
# What a wanted value is. The span of a STRING is what stands between its quotes.
MISSING, NULL, STRING, OTHER = 0, 1, 2, 3

_NEWLINE, _COMMA, _COLON = 0x0A, 0x2C, 0x3A
_BRACKET, _BRACE, _BRACE_END = 0x5B, 0x7B, 0x7D
_TO_CLOSER = 2  # from an opening bracket's code to its closing one's, for both kinds
_TRUE, _FALSE, _NULL = tuple(b"true"), tuple(b"false"), tuple(b"null")
_NAN, _INFINITY, _MINUS_INFINITY = tuple(b"NaN"), tuple(b"Infinity"), tuple(b"-Infinity")

# Each function named _after_... takes the position of the first byte of what it is about and returns the position
# after the last, or -1 where the bytes are not that. None can run past the newline that ends the line, for no JSON
# token may hold one.


@inline
def _after_space(data, i):
    while data[i] == 0x20 or data[i] == 0x09 or data[i] == 0x0D:
        i += 1
    return i


@inline
def _after_escape(data, i):
    letter = data[i + 1]
    if letter == LETTER_U:
        return i + 6 if code_unit(data, i + 2) < NOT_HEX else -1
    return i + 2 if short_escape(letter) else -1


@inline
def _after_string(data, i):
    i += 1
    while True:
        found = equal64(data, i, QUOTE) | equal64(data, i, BACKSLASH) | below64(data, i, 0x20)
        i += first_bit(found)
        if found == 0:
            continue
        if data[i] == QUOTE:
            return i + 1
        if data[i] != BACKSLASH:
            return -1
        while data[i] == BACKSLASH:
            i = _after_escape(data, i)
            if i < 0:
                return -1


@inline
def _after_digits(data, i):
    if not 0x30 <= data[i] <= 0x39:
        return -1
    while 0x30 <= data[i] <= 0x39:
        i += 1
    return i


@inline
def _after_number(data, i):
    if data[i] == 0x2D:
        i += 1
    i = i + 1 if data[i] == 0x30 else _after_digits(data, i)
    if i >= 0 and data[i] == 0x2E:
        i = _after_digits(data, i + 1)
    if i >= 0 and data[i] | 0x20 == 0x65:
        i += 1
        if data[i] == 0x2B or data[i] == 0x2D:
            i += 1
        i = _after_digits(data, i)
    return i


@inline
def _after_word(data, i, word):
    for k in range(len(word)):
        if data[i + k] != word[k]:
            return -1
    return i + len(word)


@inline
def _after_scalar(data, i):
    first = data[i]
    if first == QUOTE:
        return _after_string(data, i)
    if first == 0x74:
        return _after_word(data, i, _TRUE)
    if first == 0x66:
        return _after_word(data, i, _FALSE)
    if first == 0x6E:
        return _after_word(data, i, _NULL)
    if first == 0x4E:
        return _after_word(data, i, _NAN)
    if first == 0x49:
        return _after_word(data, i, _INFINITY)
    if first == 0x2D and data[i + 1] == 0x49:
        return _after_word(data, i, _MINUS_INFINITY)
    return _after_number(data, i)


@inline
def _after_key(data, i):
    """A key, its colon, and the space behind it."""
    i = _after_string(data, i) if data[i] == QUOTE else -1
    if i >= 0:
        i = _after_space(data, i)
        i = _after_space(data, i + 1) if data[i] == _COLON else -1
    return i


@inline
def _after_value(data, i, closers):
    """Any value. `closers` is room for the closing brackets that are owed."""
    depth = 0
    while True:
        opener = data[i]
        if opener in (_BRACE, _BRACKET):
            if depth == MAX_DEPTH - 1:  # the line's own object is one level
                return -1
            i = _after_space(data, i + 1)
            closers[depth] = opener + _TO_CLOSER
            if data[i] != opener + _TO_CLOSER:
                depth += 1
                if opener == _BRACE:
                    i = _after_key(data, i)
                    if i < 0:
                        return -1
                continue
            i += 1
        else:
            i = _after_scalar(data, i)
            if i < 0:
                return -1
        while depth > 0:
            i = _after_space(data, i)
            if data[i] != closers[depth - 1]:
                break
            depth -= 1
            i += 1
        if depth == 0:
            return i
        if data[i] != _COMMA:
            return -1
        i = _after_space(data, i + 1)
        if closers[depth - 1] == _BRACE_END:
            i = _after_key(data, i)
            if i < 0:
                return -1


@inline
def _line_end(data, i):
    while True:
        found = equal64(data, i, _NEWLINE)
        i += first_bit(found)
        if found:
            return i


@inline
def _same(left, i, stop, right, j, right_stop):
    if stop - i != right_stop - j:
        return False
    while i < stop and left[i] == right[j]:
        i += 1
        j += 1
    return i == stop


@inline
def _has_backslash(data, i, stop):
    while i < stop and data[i] != BACKSLASH:
        i += 1
    return i < stop


@inline
def _kind(first):
    if first == QUOTE:
        return STRING
    return NULL if first == 0x6E else OTHER


@kernel(
    types.UniTuple(types.int64, 2)(
        BYTES_IN, types.int64, BYTES_IN, I64_IN, I64_OUT, BYTES_OUT, BYTES_OUT, I64_OUT, I64_OUT
    )
)
def scan(block, size, name_bytes, name_bounds, lines, verdicts, kinds, starts, stops):
    """Judge the lines in block[:size] and find the values of the named keys; returns (rows, bytes consumed).

    block[size - 1] is a newline, and PADDING_BYTES more bytes are readable. Name n is
    name_bytes[name_bounds[n]:name_bounds[n + 1]]. Blank lines are no rows. It stops when `lines` is full.
    Row r's line starts at lines[r]; its value of name n stands at [n * len(lines) + r] of kinds, starts and stops,
    and means nothing unless its verdict is GOOD.
    """
    data, names, name_count, capacity = address(block), address(name_bytes), len(name_bounds) - 1, len(lines)
    longest_name = 0
    for n in range(name_count):
        longest_name = max(longest_name, name_bounds[n + 1] - name_bounds[n])
    longest_key = longest_name * LONGEST_ESCAPE_BYTES
    plain_key_bytes = np.empty(longest_key + PADDING_BYTES, np.uint8)
    owed_closers = np.empty(MAX_DEPTH, np.uint8)
    plain_key, closers = address(plain_key_bytes), address(owed_closers)

    row = 0
    line = 0
    while line < size and row < capacity:
        i = _after_space(data, line)
        if data[i] == _NEWLINE:
            line = i + 1
            continue
        lines[row] = line
        verdict = GOOD
        for slot in range(row, row + name_count * capacity, capacity):
            kinds[slot] = MISSING
            starts[slot] = 0
            stops[slot] = 0

        if data[i] != _BRACE:
            verdict = NOT_AN_OBJECT
            i = _after_value(data, i, closers)
        else:
            i = _after_space(data, i + 1)
            more = data[i] != _BRACE_END
            while more:
                key = i
                value = _after_key(data, key)
                i = _after_value(data, value, closers) if value >= 0 else -1
                if i < 0:
                    break

                key_stop = _after_string(data, key) - 1
                key += 1
                if key_stop - key <= longest_key:
                    written, first, last = data, key, key_stop
                    if _has_backslash(data, key, key_stop):
                        written, first, last = plain_key, 0, unescape_one(data, key, key_stop, plain_key, 0)
                    for n in range(name_count):
                        if _same(written, first, last, names, name_bounds[n], name_bounds[n + 1]):
                            slot = n * capacity + row
                            kind = _kind(data[value])
                            inset = 1 if kind == STRING else 0
                            kinds[slot] = kind
                            starts[slot] = value + inset
                            stops[slot] = i - inset

                i = _after_space(data, i)
                more = data[i] == _COMMA
                if more:
                    i = _after_space(data, i + 1)
            if i >= 0:
                i = i + 1 if data[i] == _BRACE_END else -1
        if i >= 0:
            i = _after_space(data, i)
        if i < 0 or data[i] != _NEWLINE:
            verdict = BROKEN
            i = _line_end(data, line)
        verdicts[row] = verdict
        row += 1
        line = i + 1
    return row, line

"""Comma- and tab-separated values, after RFC 4180: blocks of bytes in, where the wanted fields stand, out.

A field may be quoted, and then hold delimiters, line breaks and doubled quotes; a quote inside a field that does not
begin with one is a character like any other. Records end with LF or CR LF. A record is broken when it has the wrong
number of fields, when something follows a closing quote, or when a quote is not closed within `longest` bytes. In the
last two cases the broken record is one line, so that a stray quote does not swallow the records after it.

Every block has PADDING_BYTES readable bytes behind it, every output as many spare ones.
"""

from __future__ import annotations

from numba import types

from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.lines import newline_from
from gristmill.kernels.vector import PADDING_BYTES, address, copy64, equal64, first_bit

GOOD, BROKEN = 0, 1  # what a record is
PLAIN, QUOTED = 1, 2  # what a field is; the span of a QUOTED one is what stands between its quotes

_NEWLINE, _RETURN, _QUOTE = 0x0A, 0x0D, 0x22
_CUT_OFF, _WRONG = -1, -2  # in place of a position: the bytes end too early; the bytes are no field


@inline
def _closing_quote(data, i, stop):
    """The position of the next quote that is not doubled, if that can be told from the bytes before `stop`."""
    while i < stop:
        found = equal64(data, i, _QUOTE)
        i += first_bit(found)
        if found:
            if i + 1 >= stop:
                break
            if data[i + 1] != _QUOTE:
                return i
            i += 2
    return _CUT_OFF


@inline
def _delimiter_or_newline(data, i, stop, delimiter):
    while i < stop:
        found = equal64(data, i, delimiter) | equal64(data, i, _NEWLINE)
        if found:
            i += first_bit(found)
            return i if i < stop else _CUT_OFF
        i += PADDING_BYTES
    return _CUT_OFF


@inline
def _after_field(data, i, stop, delimiter):
    """The position of the delimiter or newline that ends the field, and the bounds of its value."""
    if i >= stop:
        return _CUT_OFF, 0, 0
    if data[i] != _QUOTE:
        end = _delimiter_or_newline(data, i, stop, delimiter)
        has_return = end > i and data[end] == _NEWLINE and data[end - 1] == _RETURN
        return end, i, end - 1 if has_return else end
    closing = _closing_quote(data, i + 1, stop)
    if closing < 0:
        return _CUT_OFF, 0, 0
    end = closing + 1
    if data[end] == _RETURN:
        end += 1
        if end >= stop:
            return _CUT_OFF, 0, 0
        if data[end] != _NEWLINE:
            return _WRONG, 0, 0
    if data[end] != delimiter and data[end] != _NEWLINE:
        return _WRONG, 0, 0
    return end, i + 1, closing


@kernel(
    types.UniTuple(types.int64, 2)(
        BYTES_IN,
        types.int64,
        types.int64,
        types.boolean,
        types.int64,
        types.uint8,
        types.int64,
        I64_IN,
        I64_OUT,
        BYTES_OUT,
        BYTES_OUT,
        I64_OUT,
        I64_OUT,
    )
)
def scan(block, size, within, ended, longest, delimiter, fields, wanted, lines, verdicts, kinds, starts, stops):
    """Judge the records in block[:size], find the wanted fields; returns (rows, bytes consumed).

    Counts the records that start before `within`, until `lines` is full; one that is not whole is left alone, unless
    the file `ended` here, and then block[size - 1] is a newline. A record must have so many `fields` (0: any number
    will do). Record r starts at lines[r]; its field wanted[n] stands at [n * len(lines) + r] of kinds, starts and
    stops, and means nothing unless its verdict is GOOD.
    """
    data, capacity = address(block), len(lines)
    row = 0
    line = 0
    while line < min(size, within) and row < capacity:
        if data[line] == _NEWLINE:
            line += 1
            continue
        if data[line] == _RETURN and line + 1 < size and data[line + 1] == _NEWLINE:
            line += 2
            continue
        reach = min(size, line + longest)
        i = line - 1
        field = 0
        while True:
            first = i + 1
            i, start, stop = _after_field(data, first, reach, delimiter)
            if i < 0:
                break
            for n in range(len(wanted)):
                if wanted[n] == field:
                    slot = n * capacity + row
                    kinds[slot] = QUOTED if data[first] == _QUOTE else PLAIN
                    starts[slot] = start
                    stops[slot] = stop
            field += 1
            if data[i] == _NEWLINE:
                break
        if i == _CUT_OFF and not ended and reach == size:
            break
        verdict = GOOD if i >= 0 and (fields == 0 or field == fields) else BROKEN
        if i < 0:
            i = newline_from(data, line, size)
            if i == size:
                break
        lines[row] = line
        verdicts[row] = verdict
        row += 1
        line = i + 1
    return row, line


@kernel(types.void(BYTES_IN, I64_IN, I64_IN, BYTES_IN, I64_OUT, BYTES_OUT))
def unquote(data, starts, stops, kinds, offsets, out):
    """Copy the fields data[starts[k]:stops[k]] to `out`, the quotes in QUOTED ones no longer doubled, and fill
    `offsets`."""
    source, target = address(data), address(out)
    o = 0
    offsets[0] = 0
    for k in range(len(starts)):
        i, stop = starts[k], stops[k]
        while i < stop:
            copy64(target, o, source, i)
            length = min(PADDING_BYTES, stop - i)
            doubled = first_bit(equal64(source, i, _QUOTE)) if kinds[k] == QUOTED else length
            if doubled < length:
                length = doubled + 1
                i += 1
            i += length
            o += length
        offsets[k + 1] = o

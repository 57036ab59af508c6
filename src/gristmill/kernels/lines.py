"""Plain text as lines and paragraphs, and spans of bytes as columns.

What enters: a block of bytes with PADDING_BYTES readable ones behind it. What leaves: where the records in it start
and stop, or (`gather`) the records themselves, one after another, as Arrow wants them.

A line's break, LF or CR LF, is no part of it. A line of nothing but spaces and tabs is blank, and blank lines are no
rows.
"""

from __future__ import annotations

from numba import types

from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.vector import PADDING_BYTES, address, copy64, equal64, first_bit

_NEWLINE, _RETURN = 0x0A, 0x0D


@inline
def newline_from(data, i, stop):
    """The position of the first newline in data[i:stop], `stop` where there is none."""
    while i < stop:
        found = equal64(data, i, _NEWLINE)
        if found:
            return min(i + first_bit(found), stop)
        i += PADDING_BYTES
    return stop


@inline
def _is_blank(data, i, stop):
    while i < stop and (data[i] == 0x20 or data[i] == 0x09 or data[i] == _RETURN):
        i += 1
    return i == stop


@inline
def _without_return(data, i, stop):
    return stop - 1 if stop > i and data[stop - 1] == _RETURN else stop


@kernel(types.int64(BYTES_IN, types.int64, types.int64))
def after_newline(block, i, size):
    """The position after the first newline in block[i:size], 0 where there is none."""
    stop = newline_from(address(block), i, size)
    return stop + 1 if stop < size else 0


@kernel(types.int64(BYTES_IN, types.int64))
def after_last_newline(block, size):
    """The position after the last newline in block[:size], 0 where there is none."""
    while size > 0 and block[size - 1] != _NEWLINE:
        size -= 1
    return size


@kernel(types.UniTuple(types.int64, 2)(BYTES_IN, types.int64, I64_OUT, I64_OUT))
def lines(block, size, starts, stops):
    """Where the lines in block[:size] start and stop, until `starts` is full; returns (rows, bytes consumed).

    block[size - 1] is a newline.
    """
    data = address(block)
    row = 0
    i = 0
    while i < size and row < len(starts):
        stop = newline_from(data, i, size)
        if not _is_blank(data, i, stop):
            starts[row] = i
            stops[row] = _without_return(data, i, stop)
            row += 1
        i = stop + 1
    return row, i


@kernel(types.UniTuple(types.int64, 2)(BYTES_IN, types.int64, types.int64, types.boolean, I64_OUT, I64_OUT))
def paragraphs(block, size, within, ended, starts, stops):
    """Where the runs of lines that are not blank start and stop; returns (rows, bytes consumed).

    Counts those that start before `within`, until `starts` is full. One that no blank line has closed yet is left
    alone, unless the text `ended` here, and then block[size - 1] is a newline.
    """
    data = address(block)
    row = 0
    consumed = 0
    while consumed < min(size, within) and row < len(starts):
        i = consumed
        last = last_stop = -1  # the bounds of the paragraph's last line so far
        closed = False
        while i < size and not closed:
            stop = newline_from(data, i, size)
            if stop == size:
                break
            closed = _is_blank(data, i, stop)
            if not closed:
                last, last_stop = i, stop
                i = stop + 1
        if not closed and not ended:
            break
        if last < 0:
            consumed = i if not closed else stop + 1
            continue
        starts[row] = consumed
        stops[row] = _without_return(data, last, last_stop)
        row += 1
        consumed = i
    return row, consumed


@kernel(types.void(BYTES_IN, I64_IN, I64_IN, I64_OUT, BYTES_OUT))
def gather(data, starts, stops, offsets, out):
    """Copy the spans data[starts[k]:stops[k]] to `out`, one after another, and fill `offsets`."""
    source, target = address(data), address(out)
    o = 0
    offsets[0] = 0
    for k in range(len(starts)):
        for i in range(starts[k], stops[k], PADDING_BYTES):
            copy64(target, o + i - starts[k], source, i)
        o += stops[k] - starts[k]
        offsets[k + 1] = o

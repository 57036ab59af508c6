"""Bytes that claim to be UTF-8, made so; and white space at the ends of texts.

Both kernels write compacted copies: the texts of a batch end to end, with new offsets.
"""

from __future__ import annotations

from numba import types

from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.vector import PADDING_BYTES, address, copy64


@inline
def sequence_length(data, at, stop):
    """How many bytes the well-formed UTF-8 sequence at `at` has; 0 where there is none (Unicode, table 3-7)."""
    first = data[at]
    if first < 0x80:
        return 1
    if first < 0xC2 or first > 0xF4:
        return 0
    if first < 0xE0:
        return 2 if at + 1 < stop and data[at + 1] & 0xC0 == 0x80 else 0
    if at + 2 >= stop or data[at + 2] & 0xC0 != 0x80:
        return 0
    second = data[at + 1]
    if first < 0xF0:
        low = 0xA0 if first == 0xE0 else 0x80
        high = 0x9F if first == 0xED else 0xBF  # ED A0..BF are surrogates
        return 3 if low <= second <= high else 0
    low = 0x90 if first == 0xF0 else 0x80
    high = 0x8F if first == 0xF4 else 0xBF
    return 4 if low <= second <= high and at + 3 < stop and data[at + 3] & 0xC0 == 0x80 else 0


@kernel(types.int64(I64_IN, BYTES_IN, types.int64, I64_OUT, BYTES_OUT))
def repair(offsets, data, lowest, new_offsets, out):
    """Copies each text without the bytes that are not well-formed UTF-8, and without NUL where `lowest` is 1, not 0.

    `out` holds at least offsets[-1] - offsets[0] bytes. Returns how many bytes were written. A broken sequence
    loses its bytes one at a time, as bytes.decode(errors="ignore") does. Called only for batches that Arrow's
    own (vectorised) validation refuses.
    """
    written = 0
    new_offsets[0] = 0
    for text in range(len(offsets) - 1):
        at = offsets[text]
        stop = offsets[text + 1]
        while at < stop:
            byte = data[at]
            if lowest <= byte < 0x80:
                out[written] = byte
                at += 1
                written += 1
                continue
            length = sequence_length(data, at, stop)
            if length < 2:  # broken, or NUL
                at += 1
                continue
            for near in range(length):
                out[written + near] = data[at + near]
            at += length
            written += length
        new_offsets[text + 1] = written
    return written


@inline
def _is_space(code):
    """What str.isspace() calls white space."""
    if code < 0x80:
        return code == 0x20 or 0x09 <= code <= 0x0D or 0x1C <= code <= 0x1F
    return (
        code == 0x85
        or code == 0xA0
        or code == 0x1680
        or 0x2000 <= code <= 0x200A
        or code == 0x2028
        or code == 0x2029
        or code == 0x202F
        or code == 0x205F
        or code == 0x3000
    )


@inline
def code_point(data, at):
    """The code point whose first byte is at `at` in valid UTF-8."""
    first = types.int64(data[at])
    if first < 0x80:
        return first
    if first < 0xE0:
        return (first & 0x1F) << 6 | (data[at + 1] & 0x3F)
    if first < 0xF0:
        return (first & 0x0F) << 12 | types.int64(data[at + 1] & 0x3F) << 6 | (data[at + 2] & 0x3F)
    return (
        (first & 0x07) << 18
        | types.int64(data[at + 1] & 0x3F) << 12
        | types.int64(data[at + 2] & 0x3F) << 6
        | (data[at + 3] & 0x3F)
    )


@kernel(types.int64(I64_IN, BYTES_IN, I64_OUT, BYTES_OUT))
def strip(offsets, data, new_offsets, out):
    """Copies each text (valid UTF-8) without the white space at its ends, as str.strip() does.

    `out` holds at least offsets[-1] - offsets[0] bytes. Returns how many bytes were written.
    """
    source, target = address(data), address(out)
    written = 0
    new_offsets[0] = 0
    for text in range(len(offsets) - 1):
        start = offsets[text]
        stop = offsets[text + 1]
        while start < stop and _is_space(code_point(data, start)):
            start += sequence_length(data, start, stop)
        while stop > start:
            last = stop - 1
            while data[last] & 0xC0 == 0x80:
                last -= 1
            if not _is_space(code_point(data, last)):
                break
            stop = last
        at = start
        while at + PADDING_BYTES <= stop:
            copy64(target, written + at - start, source, at)
            at += PADDING_BYTES
        while at < stop:
            out[written + at - start] = data[at]
            at += 1
        written += stop - start
        new_offsets[text + 1] = written
    return written


@kernel(types.void(I64_IN, BYTES_IN, I64_OUT))
def count_words(offsets, data, words):
    """Words of each text (valid UTF-8): runs between white space, as str.split() counts them."""
    for text in range(len(offsets) - 1):
        found = 0
        before_is_space = True
        for at in range(offsets[text], offsets[text + 1]):
            byte = data[at]
            if byte < 0x80:
                space = byte == 0x20 or 0x09 <= byte <= 0x0D or 0x1C <= byte <= 0x1F
            elif byte & 0xC0 == 0x80:
                continue
            elif byte == 0xC2 or byte == 0xE1 or byte == 0xE2 or byte == 0xE3:  # no other lead byte begins a space
                space = _is_space(code_point(data, at))
            else:
                space = False
            found += before_is_space & (not space)
            before_is_space = space
        words[text] = found

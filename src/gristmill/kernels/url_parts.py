"""The part of a URL that names the host: what lies between `//` and the next `/`, `?` or `#`.

What enters: URLs, also such as have no scheme or are none at all. What leaves: for each the authority (with user and
port, if it has them), end to end with new offsets. It is the part that tldextract takes, too: `//` counts at the very
beginning or behind a scheme; a URL with neither begins with its authority.
"""

from __future__ import annotations

from numba import types

from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel

_SLASH, _COLON, _QUESTION_MARK, _HASH = (ord(character) for character in "/:?#")


@inline
def _in_scheme(byte):
    letter = 0x61 <= (byte | 0x20) <= 0x7A
    return letter or 0x30 <= byte <= 0x39 or byte == 0x2B or byte == 0x2D or byte == 0x2E  # + - .


@inline
def _authority_start(data, start, stop):
    slashes = start
    while slashes + 1 < stop and not (data[slashes] == _SLASH and data[slashes + 1] == _SLASH):
        slashes += 1
    if slashes + 1 >= stop:
        return start
    if slashes == start:
        return start + 2
    if slashes - start < 2 or data[slashes - 1] != _COLON:
        return start
    for at in range(start, slashes - 1):
        if not _in_scheme(data[at]):
            return start
    return slashes + 2


@kernel(types.int64(I64_IN, BYTES_IN, I64_OUT, BYTES_OUT))
def authorities(offsets, data, new_offsets, out):
    """`out` holds at least offsets[-1] - offsets[0] bytes. Returns how many bytes were written."""
    written = 0
    new_offsets[0] = 0
    for url in range(offsets.size - 1):
        stop = offsets[url + 1]
        at = _authority_start(data, offsets[url], stop)
        while at < stop and data[at] != _SLASH and data[at] != _QUESTION_MARK and data[at] != _HASH:
            out[written] = data[at]
            written += 1
            at += 1
        new_offsets[url + 1] = written
    return written

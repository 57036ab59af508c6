"""Texts as JSON strings: quoted and escaped as `json.dumps(text, ensure_ascii=False)` does it.

What enters: the two buffers of a string column, valid UTF-8. What leaves: a compacted copy, with new offsets.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, kernel

# Byte → how many bytes it takes in a JSON string, and the letter of its short escape (0: none, \\u00XX).
_WIDTH = np.array([6] * 32 + [1] * 224, np.uint8)
_LETTER = np.zeros(256, np.uint8)
for _byte, _letter in {8: "b", 9: "t", 10: "n", 12: "f", 13: "r", 34: '"', 92: "\\"}.items():
    _WIDTH[_byte] = 2
    _LETTER[_byte] = ord(_letter)
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


@kernel(types.int64(I64_IN, BYTES_IN, BYTES_IN))
def _escaped_bytes(offsets, data, widths):
    total = np.int64(0)
    for at in range(offsets[0], offsets[len(offsets) - 1]):
        total += widths[data[at]]
    return total + 2 * (len(offsets) - 1)


@kernel(types.void(I64_IN, BYTES_IN, BYTES_IN, BYTES_IN, BYTES_IN, I64_OUT, BYTES_OUT))
def _escape(offsets, data, widths, letters, digits, new_offsets, out):
    written = np.int64(0)
    new_offsets[0] = 0
    for text in range(len(offsets) - 1):
        out[written] = 34
        written += 1
        for at in range(offsets[text], offsets[text + 1]):
            byte = data[at]
            if widths[byte] == 1:
                out[written] = byte
                written += 1
                continue
            out[written] = 92
            if letters[byte]:
                out[written + 1] = letters[byte]
                written += 2
                continue
            out[written + 1] = 117
            out[written + 2] = 48
            out[written + 3] = 48
            out[written + 4] = digits[byte >> 4]
            out[written + 5] = digits[byte & 15]
            written += 6
        out[written] = 34
        written += 1
        new_offsets[text + 1] = written


def json_strings(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """New offsets and bytes, each text quoted."""
    out = np.empty(_escaped_bytes(offsets, data, _WIDTH), np.uint8)
    new_offsets = np.empty(len(offsets), np.int64)
    _escape(offsets, data, _WIDTH, _LETTER, _HEX, new_offsets, out)
    return new_offsets, out

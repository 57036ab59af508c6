"""Spans of texts replaced by other texts.

What enters: the buffers of a string column, PADDING_BYTES readable behind it; spans of it, by document and then by
position, none overlapping; and the texts that may stand in for them. What leaves: the buffers of the new column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.spans import with_padding
from gristmill.kernels.vector import PADDING_BYTES, address, copy64


@inline
def copied(out, written, data, start, stop):
    """Appends data[start:stop] to `out`; PADDING_BYTES behind may be overwritten. How much is written then."""
    for at in range(start, stop, PADDING_BYTES):
        copy64(out, written + at - start, data, at)
    return written + stop - start


@kernel(types.int64(I64_IN, BYTES_IN, I64_IN, I64_IN, I64_IN, BYTES_IN, I64_IN, I64_OUT, BYTES_OUT))
def _splice(offsets, bytes_, documents, starts, stops, placeholders, bounds, new_offsets, out_bytes):
    data, out, source = address(bytes_), address(out_bytes), address(placeholders)
    span = 0
    written = np.int64(0)
    new_offsets[0] = 0
    for document in range(offsets.size - 1):
        at = offsets[document]
        turn = 0
        while span < documents.size and documents[span] == document:
            written = copied(out, written, data, at, starts[span])
            written = copied(out, written, source, bounds[turn], bounds[turn + 1])
            at = stops[span]
            turn = (turn + 1) % (bounds.size - 1)
            span += 1
        written = copied(out, written, data, at, offsets[document + 1])
        new_offsets[document + 1] = written
    return written


def splice(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    documents: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    placeholders: Sequence[str],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Each text with the placeholders in place of its spans, in turn, beginning with the first one in every text."""
    encoded = [placeholder.encode() for placeholder in placeholders]
    bounds = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    data = with_padding(data, int(offsets[-1]))
    most_bytes = int(offsets[-1] - offsets[0]) - int((stops - starts).sum()) + len(starts) * max(map(len, encoded))
    new_offsets, out = np.empty(len(offsets), np.int64), np.empty(most_bytes + PADDING_BYTES, np.uint8)
    source = np.frombuffer(b"".join(encoded) + bytes(PADDING_BYTES), np.uint8)
    written = _splice(offsets, data, documents, starts, stops, source, bounds, new_offsets, out)
    return new_offsets, out[:written]

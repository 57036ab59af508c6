"""How many lines of each document have at least so many characters.

What enters: the buffers of a string column. What leaves: a count for each document. Lines are what newlines part, as
str.split("\\n") has them: the empty text is one empty line. What newlines do not part is counted with its white space.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.compile import BYTES_IN, I64_IN, I64_OUT, kernel
from gristmill.kernels.duplicate_lines import next_newline
from gristmill.kernels.spans import count_characters, with_padding
from gristmill.kernels.vector import address


@kernel(types.void(I64_IN, BYTES_IN, types.int64, I64_OUT))
def _count(offsets, bytes_, characters, counts):
    data = address(bytes_)
    for document in range(offsets.size - 1):
        at = offsets[document]
        while at <= offsets[document + 1]:
            stop = next_newline(data, at, offsets[document + 1])
            counts[document] += stop - at >= characters and count_characters(data, at, stop) >= characters
            at = stop + 1


def count_long_lines(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], characters: int
) -> npt.NDArray[np.int64]:
    """For each document the number of lines with at least so many characters."""
    counts = np.zeros(offsets.size - 1, np.int64)
    _count(offsets, with_padding(data, int(offsets[-1])), characters, counts)
    return counts

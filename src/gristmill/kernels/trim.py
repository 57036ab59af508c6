"""White space off both ends of a span, as str.strip() takes it.

What enters: the address of valid UTF-8 and the bounds of a span. What leaves: its bounds without white space.
"""

from __future__ import annotations

from gristmill.kernels.characters import SPACE, character
from gristmill.kernels.compile import inline


@inline
def stripped(data, start, stop, characters):
    """start:stop without white space at either end."""
    while start < stop:
        here, width = character(data, start, characters)
        if not here & SPACE:
            break
        start += width
    while start < stop:
        at = stop - 1
        while data[at] & 0xC0 == 0x80:
            at -= 1
        if not character(data, at, characters)[0] & SPACE:
            break
        stop = at
    return start, stop

"""The part of a stream of bytes that is being cut into records.

What enters: a stream with `readinto`. What leaves: its bytes from `position` on, as one array with room behind it, so
kernels may read past the end. It holds one block, and more only while a single record is longer than that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gristmill.document import Bytes
from gristmill.kernels.lines import after_last_newline, after_newline
from gristmill.kernels.vector import PADDING_BYTES
from gristmill.sources.decompress import DamagedError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NEWLINE = 0x0A


class Window:
    """The bytes of a stream from `position` on, as many as have been read.

    Where the stream `ended` without damage, a newline follows its last byte, unless that is one.
    """

    def __init__(self, stream: Any, position: int, block_bytes: int) -> None:
        self.position = position
        self.ended = False
        self.damage: str | None = None  # why the stream ended before its time
        self._stream = stream
        self._block_bytes = block_bytes
        self._buffer = np.empty(0, np.uint8)
        self._begin = self._end = 0
        self.fill()
        if position == 0 and self.data[: len(BYTE_ORDER_MARK)].tobytes() == BYTE_ORDER_MARK:
            self.drop(len(BYTE_ORDER_MARK))

    @property
    def size(self) -> int:
        """How many bytes are here."""
        return self._end - self._begin

    @property
    def data(self) -> Bytes:
        """The bytes that are here, and PADDING_BYTES without meaning."""
        return self._buffer[self._begin : self._end + PADDING_BYTES]

    @property
    def complete(self) -> bool:
        """Whether all that is left of an undamaged stream is here."""
        return self.ended and self.damage is None

    def drop(self, count: int) -> None:
        """Leave `count` bytes behind."""
        self._begin += count
        self.position += count

    def drop_rest(self) -> None:
        """Leave behind what is left of a damaged stream: it belongs to a record that started before."""
        self.drop(self.size)
        self.damage = None

    def fill(self, most_bytes: int = 1 << 62) -> None:
        """Read until there is a block; if there is one already, until there is twice as much, or `most_bytes` and one
        more."""
        wanted = self._block_bytes if self.size < self._block_bytes else min(2 * self.size, most_bytes + 1)
        self._move_to_front(wanted + 1 + PADDING_BYTES)
        room = self._buffer.data
        try:
            while self._end < wanted and not self.ended:
                count = self._stream.readinto(room[self._end : wanted])
                self._end += count
                self.ended = count == 0
        except DamagedError as error:
            self.ended, self.damage = True, error.reason
        if self.complete and self._end > 0 and self._buffer[self._end - 1] != _NEWLINE:
            self._buffer[self._end] = _NEWLINE
            self._end += 1

    def whole_lines(self, within: int) -> int:
        """How many bytes the lines take that start within the first `within` bytes, as far as they are whole."""
        found = int(after_newline(self.data, within - 1, self.size)) if within < self.size else 0
        return found or int(after_last_newline(self.data, self.size))

    def skip_to_line(self, start: int) -> None:
        """Go to the first line that starts at byte `start` of the stream or later."""
        if self.position >= start:
            return
        while self.position < start - 1 and self._has_bytes():
            self.drop(min(self.size, start - 1 - self.position))
        if not self.drop_line():
            self.drop_rest()

    def drop_line(self) -> bool:
        """Leave behind what is left of a line, however long; whether it ends at all."""
        while self._has_bytes():
            count = int(after_newline(self.data, 0, self.size))
            self.drop(count or self.size)
            if count:
                return True
        return False

    def _has_bytes(self) -> bool:
        if self.size == 0 and not self.ended:
            self.fill()
        return self.size > 0

    def _move_to_front(self, room: int) -> None:
        size = self.size
        buffer = self._buffer if len(self._buffer) == room else np.empty(room, np.uint8)
        buffer[:size] = self._buffer[self._begin : self._end]
        self._buffer, self._begin, self._end = buffer, 0, size

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

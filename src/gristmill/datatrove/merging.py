"""Sorted files of records, read side by side: a part of their common order at a time.

What enters: files, each sorted by a key that is the first column of its records. What leaves: for a stretch of keys
the records of every file, so that equal keys always come together. Memory is bounded by what is read at once, however
large the files are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[Any]
_RECORDS_AT_ONCE = 1 << 21
_LEAST_RECORDS = 1 << 10


class _SortedFile:
    def __init__(self, file: Any, kind: np.dtype[Any], key: Callable[[Records], npt.NDArray[Any]]) -> None:
        self._file, self._kind, self._key = file, kind, key
        self.held: Records = np.empty(0, kind)
        self.ended = False

    def read(self, records: int) -> None:
        """Hold more, if there is more."""
        raw = self._file.read(records * self._kind.itemsize)
        if len(raw) % self._kind.itemsize:
            raise ValueError(f"expected whole records of {self._kind.itemsize} bytes, found part of one")
        new = np.frombuffer(raw, self._kind)
        self.ended = len(new) < records
        self.held = np.concatenate([self.held, new]) if len(self.held) else new
        keys = self.keys()
        if len(keys) and bool((keys[1:] < keys[:-1]).any()):
            raise ValueError("expected sorted signatures, found others: make this step's input again")

    def keys(self) -> npt.NDArray[Any]:
        return self._key(self.held)

    def take_below(self, bound: Any) -> Records:
        """What has a smaller key; None: everything."""
        stop = len(self.held) if bound is None else int(np.searchsorted(self.keys(), bound))
        taken, self.held = self.held[:stop], self.held[stop:]
        return taken


def stretches(
    files: Sequence[Any], kinds: Sequence[np.dtype[Any]], key: Callable[[Records], npt.NDArray[Any]]
) -> Iterator[list[Records]]:
    """The records of each file, stretch by stretch of keys, in ascending order."""
    sources = [_SortedFile(file, kind, key) for file, kind in zip(files, kinds, strict=True)]
    each = max(_LEAST_RECORDS, _RECORDS_AT_ONCE // max(1, len(sources)))
    while True:
        for source in sources:
            if not source.ended and len(source.held) < each:
                source.read(each)
        # Up to the smallest key at which a file's held part ends all files are known. One key fills a held part: more.
        while True:
            open_ended = [source for source in sources if not source.ended]
            bound = min((source.keys()[-1] for source in open_ended), default=None)
            if bound is None or any(len(source.held) and source.keys()[0] < bound for source in sources):
                break
            for source in open_ended:
                if source.keys()[-1] == bound:
                    source.read(each)
        taken = [source.take_below(bound) for source in sources]
        if any(len(part) for part in taken):
            yield taken
        if bound is None:
            return

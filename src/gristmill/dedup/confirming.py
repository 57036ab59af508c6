"""Candidates that buckets found, compared by their true similarity, in memory-mapped scratch files.

What enters: the members of clusters with their roots, and their sets of n-grams, both by position. What leaves: for
each position that goes, the one that stays, or EARLIER. Guaranteed: both are as similar as asked, and the latter stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.formats.pairs import Positions
from gristmill.formats.scratch_array import scratch_array
from gristmill.formats.shingle_sets import Sets

_BLOCK = 1 << 20


def confirmed(
    members: Iterable[tuple[Positions, Positions]],
    sets: Iterable[Sets],
    least: float,
    ranks: Callable[[Positions], npt.NDArray[np.float64]] | None,
    rows: int,
    scratch: Path,
) -> tuple[Positions, Positions]:
    """(who goes, who stays for it), both positions, ascending by the first; arrays over scratch files. `members`:
    positions and roots, ascending; those above `rows` are of earlier runs, and stay. `ranks`: who is to be preferred;
    else it is the lowest. Ranking holds 24 bytes a member in memory."""
    from gristmill.dedup.clusters import EARLIER
    from gristmill.kernels.confirm import confirm

    positions, roots = _Collected(scratch, "positions", np.int64), _Collected(scratch, "roots", np.int64)
    for some_positions, some_roots in members:
        positions.add(some_positions)
        roots.add(some_roots)
    offsets, hashes = _Collected(scratch, "offsets", np.int64), _Collected(scratch, "hashes", np.uint64)
    offsets.add(np.zeros(1, np.int64))
    for _, starts, some_hashes in sets:
        offsets.add(hashes.length + starts[1:])
        hashes.add(some_hashes)
    where = positions.array()
    count = len(where)
    assert offsets.length == count + 1, f"{count} candidates, but {offsets.length - 1} sets"
    root_members = roots.array()
    for start in range(0, count, _BLOCK):
        block = slice(start, start + _BLOCK)
        root_members[block] = np.searchsorted(where, root_members[block])

    links = [_filled(scratch / name, count, -1) for name in ("first", "last", "following", "survivors")]
    order = _filled(scratch / "order", count, 0)
    own = int(np.searchsorted(where, rows, side="right"))
    order[: count - own] = np.arange(own, count)
    order[count - own :] = np.arange(own) if ranks is None else np.argsort(-ranks(where[:own]), kind="stable")
    confirm(order, count - own, root_members, offsets.array(), hashes.array(), least, *links)
    survivors = links[-1]
    gone = np.flatnonzero(survivors != np.arange(count))
    stays = where[survivors[gone]]
    return where[gone], np.where(stays > rows, EARLIER, stays)


class _Collected:
    """Numbers that arrive some at a time, in a file."""

    def __init__(self, folder: Path, name: str, kind: Any) -> None:
        self._path = folder / name
        self._kind = np.dtype(kind)
        self._file = open(self._path, "wb")  # noqa: SIM115  closed by `array`
        self.length = 0

    def add(self, numbers: npt.NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(numbers, self._kind).data)
        self.length += len(numbers)

    def array(self) -> npt.NDArray[Any]:
        """All of them, mapped."""
        self._file.close()
        if self.length == 0:
            return np.zeros(0, self._kind)
        return np.memmap(self._path, self._kind, "r+").view(np.ndarray)


def _filled(path: Path, length: int, value: int) -> npt.NDArray[np.int64]:
    array = scratch_array(path, np.int64, length)
    array[:] = value
    return array

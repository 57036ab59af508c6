"""Which things occur before? Sort chunk by chunk, then compare all chunks, a range of hashes at a time.

What enters: 128 bits of hash and a place for each thing (a span of sentences, an anchor, a window of bytes), chunk by
chunk. What leaves: the places of the things that occur at an earlier place, in this chunk or in one before, or that
an index of earlier runs holds. Guaranteed:
memory is bounded by RUN_ROWS a chunk and by about `rows` a partition, however often one thing occurs; the answer
does not depend on how runs and partitions are cut.

A thing that is in a run more than once stays in it once, at its first place: the others are known to be repeats then
and there. So no partition grows by what one chunk says a million times.

Two different things among n share 128 bits of hash with a probability of n² / 2^129: 1.5e-15 for a trillion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_NO_CHUNK = np.zeros(0, np.int32)
_EARLIER = -1  # the chunk of what an index holds
RUN_ROWS = 1 << 20  # 25 MB, and four times that while it is sorted
PARTITION_ROWS = 1 << 21
SAMPLED_ROWS = 1 << 12  # of a run, one in so many is sampled: partitions are cut by samples


class Occurrences(NamedTuple):
    """Things and where they are."""

    low: U64
    high: U64
    place: I64


_NOTHING = Occurrences(np.zeros(0, np.uint64), np.zeros(0, np.uint64), np.zeros(0, np.int64))


class Run(NamedTuple):
    """A part of a chunk: its different things by hash, each at its first place, and the places of the others."""

    things: Occurrences
    repeated: I64


class Places(NamedTuple):
    """Places, by chunk and then in order."""

    chunk: npt.NDArray[np.int32]
    place: I64


class Resolved(NamedTuple):
    """What a partition tells about its things."""

    new: tuple[U64, U64]  # low and high of all different ones, ascending, but those of earlier runs
    repeated: Places  # the thing occurs before
    examined: Places  # it does not, but another thing has the same `low`


def runs(batches: Iterable[Occurrences], run_rows: int = RUN_ROWS) -> Iterator[Run]:
    """Batches of things, their places ascending, as runs; a batch is in one run as a whole."""
    held: list[Occurrences] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += len(batch.low)
        if rows >= run_rows:
            yield _run(held)
            held, rows = [], 0
    if rows:
        yield _run(held)


def _run(batches: Sequence[Occurrences]) -> Run:
    low, high, place = (np.concatenate(columns) for columns in zip(*batches, strict=True))
    order = by_hash(low, high)
    low, high, place = low[order], high[order], place[order]
    first = _starts(low) | _starts(high)
    return Run(Occurrences(low[first], high[first], place[first]), place[~first])


def by_hash(low: U64, high: U64) -> I64:
    """The order by (low, high), equal ones in the order given. Low alone decides nearly all, so that is sorted."""
    order = np.argsort(low)
    ordered = low[order]
    same = ~_starts(ordered)
    tied = same.copy()
    tied[:-1] |= same[1:]
    if tied.any():
        rows = order[tied]
        order[tied] = rows[np.lexsort((rows, high[rows], ordered[tied]))]
    return order


def _starts(column: U64) -> Bools:
    """Where a value differs from the one before."""
    starts = np.ones(len(column), np.bool_)
    np.not_equal(column[1:], column[:-1], out=starts[1:])
    return starts


def samples(things: Occurrences) -> list[tuple[int, int]]:
    """One in SAMPLED_ROWS of a run's things."""
    sampled = slice(SAMPLED_ROWS // 2, None, SAMPLED_ROWS)
    return list(zip(things.low[sampled].tolist(), things.high[sampled].tolist(), strict=True))


class Partition(NamedTuple):
    """The things from `first` up to, but without, `last`; None is without bound."""

    first: tuple[int, int] | None
    last: tuple[int, int] | None


def partitions(sampled: Sequence[tuple[int, int]], rows: int = PARTITION_ROWS) -> list[Partition]:
    """All things in parts of about so many rows, from the samples of all runs."""
    step = max(1, rows // SAMPLED_ROWS)
    cuts: list[tuple[int, int] | None] = list(dict.fromkeys(sorted(sampled)[step::step]))
    return [Partition(*bounds) for bounds in zip([None, *cuts], [*cuts, None], strict=True)]


def part_of(run: Occurrences, partition: Partition) -> Occurrences:
    """A run's things that lie in a partition."""
    first = 0 if partition.first is None else _place_of(run, partition.first)
    last = len(run.low) if partition.last is None else _place_of(run, partition.last)
    return Occurrences(run.low[first:last], run.high[first:last], run.place[first:last])


def _place_of(run: Occurrences, thing: tuple[int, int]) -> int:
    first, last = (int(np.searchsorted(run.low, np.uint64(thing[0]), side)) for side in ("left", "right"))
    return first + int(np.searchsorted(run.high[first:last], np.uint64(thing[1])))


def seen_before(low: U64, high: U64) -> Occurrences:
    """A run of an earlier run's things, which are nowhere in this one."""
    return Occurrences(low, high, np.broadcast_to(np.int64(0), low.shape))


def resolve(
    chunks: Iterable[Sequence[Occurrences]], partition: Partition, earlier: Sequence[Occurrences] = ()
) -> Resolved:
    """Compare the runs of all chunks, in order, within one partition; `earlier` are before all of them."""
    parts = [(_EARLIER, part_of(run, partition)) for run in earlier]
    parts += [(chunk, part_of(run, partition)) for chunk, of_chunk in enumerate(chunks) for run in of_chunk]
    chunk_of = np.concatenate([_NO_CHUNK, *(np.full(len(part.low), chunk, np.int32) for chunk, part in parts)])
    things = Occurrences(*(np.concatenate(columns) for columns in zip(_NOTHING, *(p for _, p in parts), strict=True)))
    order, repeated, examined = _compare(things.low, things.high, partition)
    own = chunk_of != _EARLIER
    new = order[(own & ~repeated)[order]]
    places = (_by_place(chunk_of[chosen], things.place[chosen]) for chosen in (own & repeated, own & examined))
    return Resolved((things.low[new], things.high[new]), *places)


def _compare(low: U64, high: U64, partition: Partition) -> tuple[I64, Bools, Bools]:
    """The order of the rows by hash; those that say what an earlier row says; and those that do not, but have the `low`
    of a row that differs."""
    order = by_hash(low, high)
    ordered = low[order]
    starts_low = _starts(ordered)
    first = starts_low | _starts(high[order])
    number_low = np.cumsum(starts_low) - 1
    several = np.bincount(number_low, weights=first) > 1  # things with this `low`
    if len(ordered):  # a partition that begins or ends amidst one `low` may not see all of its things
        several[0] |= partition.first is not None and partition.first[0] == ordered[0]
        several[-1] |= partition.last is not None and partition.last[0] == ordered[-1]
    repeated, examined = np.zeros(len(low), np.bool_), np.zeros(len(low), np.bool_)
    repeated[order] = ~first
    examined[order] = first & several[number_low]
    return order, repeated, examined


def _by_place(chunk: npt.NDArray[np.int32], place: I64) -> Places:
    order = np.lexsort((place, chunk))
    return Places(chunk[order], place[order])

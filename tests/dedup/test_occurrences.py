from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.dedup import occurrences
from gristmill.dedup.occurrences import Occurrences

things: Any = st.tuples(st.integers(0, 5), st.integers(0, 2))
corpora: Any = st.lists(st.lists(things, max_size=12), min_size=1, max_size=4)


def as_occurrences(rows: list[tuple[int, int]], first_place: int) -> Occurrences:
    low, high = (np.array([row[half] for row in rows], np.uint64) for half in (0, 1))
    return Occurrences(low, high, np.arange(first_place, first_place + len(rows)))


@settings(max_examples=300)
@given(corpora, st.integers(1, 5), st.integers(1, 9), st.integers(1, 9))
def test_equals_its_twin(corpus: list[list[tuple[int, int]]], batch: int, run_rows: int, partition_rows: int) -> None:
    """Whatever the batches, runs and partitions: repeated is what was seen before; examined are the first ones of
    those whose `low` another one has, and where a partition cuts such a group, perhaps others of it."""
    found = [
        list(
            occurrences.runs(
                (as_occurrences(chunk[at : at + batch], at) for at in range(0, len(chunk), batch)), run_rows
            )
        )
        for chunk in corpus
    ]
    sampled = sorted({thing for chunk in corpus for thing in chunk})
    cuts = sampled[::partition_rows]
    parts = [occurrences.Partition(*both) for both in zip([None, *cuts], [*cuts, None], strict=True)]
    repeated = {
        (chunk, place) for chunk, of_chunk in enumerate(found) for run in of_chunk for place in run.repeated.tolist()
    }
    examined = set()
    for part in parts:
        resolved = occurrences.resolve([[run.things for run in chunk] for chunk in found], part)
        repeated |= set(zip(*(column.tolist() for column in resolved.repeated), strict=True))
        examined |= set(zip(*(column.tolist() for column in resolved.examined), strict=True))

    seen: dict[tuple[int, int], tuple[int, int]] = {}
    expected = set()
    for chunk, of_chunk in enumerate(corpus):
        for place, thing in enumerate(of_chunk):
            if seen.setdefault(thing, (chunk, place)) != (chunk, place):
                expected.add((chunk, place))
    assert repeated == expected
    lows = [low for low, _ in seen]
    must = {first for (low, _), first in seen.items() if lows.count(low) > 1}
    may = {first for (low, _), first in seen.items() if low in {cut[0] for cut in cuts}}
    assert must <= examined <= must | may


def test_a_partition_has_about_the_rows_it_is_asked_for() -> None:
    numbers = np.random.default_rng(1).integers(0, 2**63, (2, 400_000)).astype(np.uint64)
    [run] = occurrences.runs([Occurrences(numbers[0], numbers[1], np.arange(400_000))])
    parts = occurrences.partitions(occurrences.samples(run.things), 50_000)
    sizes = [len(occurrences.part_of(run.things, part).low) for part in parts]
    assert sum(sizes) == 400_000
    assert max(sizes) <= 50_000 + occurrences.SAMPLED_ROWS
    assert len(sizes) <= 9

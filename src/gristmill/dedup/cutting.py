"""Deduplicators that cut: what they have in common, chunk by chunk. The route carries chunks, records and files.

What enters: the texts that earlier deduplicators left, in batches. What leaves: cuts, and which documents go because
too little of them is left.

A cutting unit looks for repeats in one or more rounds. In each it names things in the text (spans of sentences,
anchors, windows) by hash and place; `dedup/occurrences.py` says which occur before, and which of the others the next
round is to examine. All repeats found together are then turned into cuts. A place (kernels/places.py) begins with the
byte in the chunk's texts, end to end, at which the thing begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gristmill.dedup import occurrences
from gristmill.dedup.occurrences import I64, Occurrences, Run
from gristmill.document import buffers, large_strings
from gristmill.errors import FormatError
from gristmill.formats.cuts import Cuts, cut_texts, joined
from gristmill.kernels.places import MOST_BYTES, PLACE_BITS

NONE: I64 = np.zeros(0, np.int64)


class Found(NamedTuple):
    """What a unit finds in a batch in one round."""

    things: Occurrences  # places ascending
    repeated: I64  # places of things that it saw just before, and therefore does not name


class CuttingUnit(Protocol):
    """What a cutting deduplicator is made of. All is pure."""

    NAME: ClassVar[str]
    VERSION: ClassVar[int]
    ROUNDS: ClassVar[tuple[str, ...]]  # what is looked for in each

    def find(self, turn: int, texts: Any, first_byte: int, examined: I64) -> Iterator[Found]:
        """The things of these texts, which begin at `first_byte` of their chunk; `examined`: places in them."""

    def cuts(self, texts: Any, first_byte: int, repeated: I64) -> Cuts:
        """What goes, texts numbered from 0, for the places of all repeats in these texts, ascending."""

    def too_short(self, texts: Any) -> npt.NDArray[np.bool_]:
        """Which of these texts go as a whole, something being cut out of each of them already."""


def found_in_chunk(unit: CuttingUnit, turn: int, batches: Iterable[Any], examined: I64) -> Iterator[Run]:
    """One round over the batches of a chunk, as sorted runs."""
    repeated: list[I64] = []

    def found() -> Iterator[Occurrences]:
        for texts, first_byte, near in _with_places(batches, examined):
            if turn == 0 or len(near):
                for things, again in unit.find(turn, texts, first_byte, near):
                    repeated.append(again)
                    yield things

    for run in occurrences.runs(found()):
        yield Run(run.things, np.concatenate([run.repeated, *repeated]))
        repeated.clear()


class CutBatch(NamedTuple):
    """A batch after its cuts."""

    texts: Any  # all of them, cut
    cuts: Cuts  # of those that stay, numbered by position
    too_short: npt.NDArray[np.bool_]  # those that go as a whole
    too_short_bytes: int  # that they had before


def cut_chunk(unit: CuttingUnit, batches: Iterable[Any], repeated: I64) -> Iterator[CutBatch]:
    """The batches of a chunk after all rounds."""
    for texts, first_byte, near in _with_places(batches, repeated):
        too_short = np.zeros(len(texts), np.bool_)
        cuts = unit.cuts(texts, first_byte, near) if len(near) else joined([])
        left = cut_texts(texts, cuts)
        changed = np.unique(cuts.row)
        if len(changed):
            too_short[changed] = unit.too_short(left.take(changed))
        lengths_bytes = np.diff(buffers(texts)[0])
        yield CutBatch(left, cuts.of(~too_short[cuts.row]), too_short, int(lengths_bytes[too_short].sum()))


def _with_places(batches: Iterable[Any], places: I64) -> Iterator[tuple[Any, int, I64]]:
    """Each batch with the byte at which it begins, and the places that lie in it."""
    first_byte = 0
    for texts in batches:
        offsets, _ = buffers(texts)
        stop = first_byte + int(offsets[-1] - offsets[0])
        if stop > MOST_BYTES:
            raise FormatError(
                f"expected chunks of at most {MOST_BYTES:,} bytes of text, found a larger one\n  Lower `output.chunk`."
            )
        first, last = np.searchsorted(places, [first_byte << PLACE_BITS, stop << PLACE_BITS])
        yield texts, first_byte, places[first:last]
        first_byte = stop


def cut_in_memory(
    unit: CuttingUnit, chunks: Sequence[Sequence[Any]], partition_rows: int = occurrences.PARTITION_ROWS
) -> list[list[CutBatch]]:
    """What the route does with files, for chunks of batches of texts that fit into memory."""
    batches = [[large_strings(texts) for texts in chunk] for chunk in chunks]
    repeated, examined = [[NONE] for _ in chunks], [NONE for _ in chunks]
    for turn in range(len(unit.ROUNDS)):
        found = [list(found_in_chunk(unit, turn, *both)) for both in zip(batches, examined, strict=True)]
        sampled = [sample for chunk in found for run in chunk for sample in occurrences.samples(run.things)]
        parts = [
            occurrences.resolve(([run.things for run in chunk] for chunk in found), partition)
            for partition in occurrences.partitions(sampled, partition_rows)
        ]
        for chunk, chunk_runs in enumerate(found):
            repeated[chunk] += [run.repeated for run in chunk_runs]
            repeated[chunk] += [part.repeated.place[part.repeated.chunk == chunk] for part in parts]
            examined[chunk] = np.sort(
                np.concatenate([part.examined.place[part.examined.chunk == chunk] for part in parts])
            )
    return [
        list(cut_chunk(unit, chunk, np.sort(np.concatenate(places))))
        for chunk, places in zip(batches, repeated, strict=True)
    ]

"""What every training-set format is written from: rows of ids, and what all rows of a set have in common.

A row is a packed row of exactly `sequence_length` places, or one whole document where nothing was packed.

What enters: stretches of row files (row_file.py) or of token shards (token_shard.py), memory-mapped.
What leaves: `RowBatch`es of at most BATCH_TOKENS ids, or of one longer row. Where a batch ends is decided by the
stretch alone, so what is written batch by batch is a pure function of the content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.formats.row_file import I64, Ids, Layout, RowFile, Segments
from gristmill.formats.token_shard import TokenShard

BATCH_TOKENS = 1 << 22
DOCUMENTS = "documents"  # the strategy of a set whose rows are documents, as long as they are
_MAY_PAD = ("padded", "best_fit")


@dataclass(frozen=True)
class About:
    """What all rows of a training set have in common."""

    tokenizer: str  # a name for people: the Hub id, or the file's name
    tokenizer_fingerprint: str
    vocab_size: int
    pad_id: int
    eos_id: int | None
    strategy: str  # a packing strategy, or DOCUMENTS
    sequence_length: int | None  # None: rows are documents
    sources: tuple[str, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The width of an id: 16 bits as long as the vocabulary allows it."""
        return np.dtype(np.uint16 if self.vocab_size <= 65_535 else np.uint32)

    @property
    def may_pad(self) -> bool:
        """Whether some rows end in padding."""
        return self.strategy in _MAY_PAD

    @property
    def layout(self) -> Layout:
        """The same for packed rows."""
        assert self.sequence_length is not None, "documents have no packed layout"
        return Layout(
            self.sequence_length,
            self.strategy,
            self.pad_id,
            self.vocab_size,
            self.tokenizer_fingerprint,
            self.sources,
        )


class RowBatch(NamedTuple):
    """Consecutive rows."""

    ids: Ids  # of all rows, end to end, padding included
    offsets: I64  # rows + 1, from 0: row i is ids[offsets[i]:offsets[i + 1]]
    lengths: I64  # how many ids of each row are real tokens; the rest is padding
    segments: Segments  # the document parts of each row

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.lengths)

    def part_lengths(self) -> I64:
        """How many tokens each document part has, in the order of `segments`."""
        starts = self.segments.start.astype(np.int64)
        ends = np.append(starts[1:], 0)
        last = self.segments.offsets[1:] - 1
        filled = np.diff(self.segments.offsets) > 0
        ends[last[filled]] = self.lengths[filled]
        return ends - starts


class Stretch(NamedTuple):
    """Rows start to stop of one file; `first` is the number of row `start` in the whole set."""

    path: str
    start: int
    stop: int
    first: int


def of_documents(stretches: Sequence[Stretch], dtype: np.dtype[Any]) -> Iterator[RowBatch]:
    """The documents of token shards, one a row, with ids of this width."""
    for stretch in stretches:
        shard = TokenShard.open(stretch.path)
        for start, stop in _cuts(shard.offsets, stretch):
            begin, end = shard.offsets[[start, stop]].tolist()
            offsets = shard.offsets[start : stop + 1] - begin
            ids = shard.ids[begin:end].astype(dtype, copy=False)
            first = stretch.first + start - stretch.start
            yield RowBatch(ids, offsets, np.diff(offsets), _one_document_each(stop - start, first))


def of_packed_rows(stretches: Sequence[Stretch], layout: Layout) -> Iterator[RowBatch]:
    """Packed rows, as they are."""
    for stretch in stretches:
        file = RowFile.open(Path(stretch.path), layout)
        width = layout.sequence_length
        for start, stop in _cuts(np.arange(len(file) + 1, dtype=np.int64) * width, stretch):
            parts = file.segments
            begin, end = parts.offsets[[start, stop]].tolist()
            segments = Segments(
                parts.offsets[start : stop + 1] - begin,
                parts.start[begin:end],
                parts.source[begin:end],
                parts.document[begin:end],
                parts.token[begin:end],
            )
            yield RowBatch(
                file.ids[start:stop].reshape(-1),
                np.arange(stop - start + 1, dtype=np.int64) * width,
                file.lengths[start:stop].astype(np.int64),
                segments,
            )


def cut(offsets: I64, path: str, first: int, most_rows: int, most_tokens: int) -> list[Stretch]:
    """The rows between `offsets` as stretches of at most so many rows and tokens, or of one longer row."""
    stretches = []
    start, rows = 0, len(offsets) - 1
    while start < rows:
        stop = int(np.searchsorted(offsets, offsets[start] + most_tokens, side="right")) - 1
        stop = min(max(stop, start + 1), start + most_rows, rows)
        stretches.append(Stretch(path, start, stop, first + start))
        start = stop
    return stretches


def _cuts(offsets: I64, stretch: Stretch) -> Iterator[tuple[int, int]]:
    for piece in cut(offsets[stretch.start : stretch.stop + 1], "", 0, stretch.stop - stretch.start, BATCH_TOKENS):
        yield stretch.start + piece.start, stretch.start + piece.stop


def _one_document_each(rows: int, first: int) -> Segments:
    zeros: npt.NDArray[np.uint64] = np.zeros(rows, np.uint64)
    return Segments(
        np.arange(rows + 1, dtype=np.int64),
        zeros.astype(np.uint32),
        zeros.astype(np.uint16),
        np.arange(first, first + rows, dtype=np.uint64),
        zeros,
    )

"""Batch after batch of one rank, each made from its number alone: by the consumer, by threads or by processes."""

from __future__ import annotations

from dataclasses import dataclass

from gristmill.formats.packed_rows import PackedRows, Taken
from gristmill.loader.collate import Batch, collate
from gristmill.loader.cursor import I64, RowOrder, Share

Read = tuple[I64, Taken]  # row numbers and what stands in them: a twelfth of a batch's bytes


@dataclass(frozen=True)
class Rows:
    """Row numbers → a batch of NumPy arrays; at once, or read in one process and expanded in another."""

    packed: PackedRows
    ignore_first_tokens: bool

    def batch(self, rows: I64) -> Batch:
        """The batch of these rows."""
        return collate(self.packed, rows, self.packed.find(rows), self.ignore_first_tokens)

    def read(self, rows: I64) -> Read:
        """What stands in these rows."""
        return rows, self.packed.take(rows)

    def expand(self, read: Read) -> Batch:
        """The batch of rows that were read."""
        rows, taken = read
        return collate(self.packed, rows, taken.find(), self.ignore_first_tokens)


@dataclass(frozen=True)
class Batches:
    """One rank's batches between two positions of the stream, by their number from 0."""

    rows: Rows
    order: RowOrder
    share: Share
    begin: int
    end: int

    def __len__(self) -> int:
        return self.share.steps(self.begin, self.end)

    def read(self, step: int) -> Read:
        """What stands in the rows of batch number `step`."""
        return self.rows.read(self.order.rows_at(self.share.positions(self.begin, self.end, step)))

    def expand(self, read: Read) -> Batch:
        """The batch of rows that were read."""
        return self.rows.expand(read)

    def batch(self, step: int) -> Batch:
        """Batch number `step`."""
        return self.rows.batch(self.order.rows_at(self.share.positions(self.begin, self.end, step)))

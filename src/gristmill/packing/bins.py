"""What a packer answers: which segment of which document lies in which row. Integers only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gristmill.kernels import packing as kernels

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bins:
    """Segments, row after row: those of row i are row_first[i]:row_first[i + 1] of the three columns.

    Segments from `row_first[-1]` on lie in no row: they are cropped.
    """

    sequence_length: int
    row_first: I64  # rows + 1
    draw: I64  # which of the lengths that the packer was given
    token: I64  # the first token of the document that is here
    length: I64  # how many of its tokens are here, at least one

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.row_first) - 1

    @property
    def placed(self) -> int:
        """How many segments lie in rows."""
        return int(self.row_first[-1])

    @property
    def padding_tokens(self) -> int:
        """Places in the rows that no token takes."""
        return self.rows * self.sequence_length - int(self.length[: self.placed].sum())

    def row_lengths(self) -> I64:
        """How many tokens each row has."""
        ends = np.concatenate([[0], np.cumsum(self.length[: self.placed])])
        lengths: I64 = np.diff(ends[self.row_first])
        return lengths

    @cached_property
    def starts(self) -> I64:
        """Where in its row each placed segment begins."""
        begins: I64 = kernels.starts(self.row_first, self.length)
        return begins

"""The three ways from a window of the draw plan to rows. `PACKERS` names them as recipes do.

What enters: a draw plan and the number of a window. What leaves: the draws that the window's rows are made of, and
the bins. Guaranteed: windows are independent tasks; over all windows every token of every draw lies in exactly one
segment, in a row or cropped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gristmill.formats.draw_plan import DrawPlan, Draws
from gristmill.kernels import packing as kernels
from gristmill.packing.bins import Bins


class Planned(NamedTuple):
    """A window's rows; `bins.draw` counts in `draws`."""

    draws: Draws
    bins: Bins


class Packer(Protocol):
    """Lengths to bins, for a whole stream at once or for one window of a draw plan."""

    def plan(self, lengths: npt.ArrayLike, sequence_length: int) -> Bins:
        """Rows for documents of these lengths; documents without tokens are in none."""

    def plan_window(self, draw_plan: DrawPlan, number: int, sequence_length: int) -> Planned:
        """The rows that are this window's task."""


class _WindowByWindow(ABC):
    """Packers for which a window is a stream of its own."""

    @abstractmethod
    def plan(self, lengths: npt.ArrayLike, sequence_length: int) -> Bins: ...

    def plan_window(self, draw_plan: DrawPlan, number: int, sequence_length: int) -> Planned:
        """The window's draws, packed among themselves."""
        draws = draw_plan.window_draws(number)
        return Planned(draws, self.plan(draws.tokens, sequence_length))


class BestFit(_WindowByWindow):
    """Best fit decreasing: documents whole where they fit, nothing cropped, a little padding."""

    def plan(self, lengths: npt.ArrayLike, sequence_length: int) -> Bins:
        """Longer documents are cut into full rows and a remainder, which is packed like a document."""
        return Bins(sequence_length, *kernels.best_fit(_counts(lengths), sequence_length))


class Padded(_WindowByWindow):
    """One document a row, much padding; what is longer than a row goes on in the next."""

    def plan(self, lengths: npt.ArrayLike, sequence_length: int) -> Bins:
        """As many rows for a document as it needs."""
        counts = _counts(lengths)
        rows_of = -(-counts // sequence_length)
        draw = np.repeat(np.arange(len(counts)), rows_of)
        first_row = np.cumsum(rows_of) - rows_of
        token = (np.arange(len(draw)) - first_row[draw]) * sequence_length
        length = np.minimum(counts[draw] - token, sequence_length)
        return Bins(sequence_length, np.arange(len(draw) + 1), draw, token, length)


class Wrapped:
    """One stream of tokens cut into rows: no padding; the stream's last, incomplete row is cropped."""

    def plan(self, lengths: npt.ArrayLike, sequence_length: int) -> Bins:
        """The whole stream."""
        counts = _counts(lengths)
        return self._rows(counts, 0, -(-int(counts.sum()) // sequence_length), sequence_length)

    def plan_window(self, draw_plan: DrawPlan, number: int, sequence_length: int) -> Planned:
        """The rows whose first token lies in the window: the last one reads on into the windows that follow."""
        window = draw_plan.window(number)
        skip_tokens = -window.first_token % sequence_length
        rows = max(0, -(-(window.tokens - skip_tokens) // sequence_length))
        end = skip_tokens + rows * sequence_length if rows else window.tokens
        draws = Draws.join([draw_plan.window_draws(number), *_read_on(draw_plan, number + 1, end - window.tokens)])
        return Planned(draws, self._rows(draws.tokens, skip_tokens, rows, sequence_length))

    def _rows(self, lengths: npt.ArrayLike, skip_tokens: int, rows: int, sequence_length: int) -> Bins:
        return Bins(sequence_length, *kernels.wrap(_counts(lengths), sequence_length, skip_tokens, rows))


def _read_on(draw_plan: DrawPlan, number: int, tokens: int) -> Iterator[Draws]:
    """The draws, from that window on, that it takes to have so many tokens; fewer where the stream ends."""
    while tokens > 0 and number < len(draw_plan):
        draws = draw_plan.window_draws(number)
        ends = np.cumsum(draws.tokens, dtype=np.int64)
        yield draws.head(int(np.searchsorted(ends, tokens)) + 1)
        tokens -= draw_plan.window(number).tokens
        number += 1


PACKERS: Mapping[str, Packer] = {"best_fit": BestFit(), "padded": Padded(), "wrapped": Wrapped()}


def _counts(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    return np.ascontiguousarray(lengths, dtype=np.int64)

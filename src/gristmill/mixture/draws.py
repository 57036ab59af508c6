"""The stream of draws, window after window, in bounded memory.

What enters: document lengths, a target for each source, a seed. What leaves: windows of draws, each closed by the
draw that brings it to `window_tokens`. The rule of interleaving and stopping stands in kernels/draws.py. The order
within a source depends on the seed and its name alone, so adding a source does not reshuffle the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import xxhash

from gristmill.formats.draw_plan import Draws
from gristmill.kernels.draws import LOOKAHEAD, State, Supply, draw
from gristmill.mixture.lengths import Lengths

Number = TypeVar("Number", bound=np.generic)

WINDOW_DRAWS = 1 << 20  # a window closes here too, so that one of very short documents still fits in memory


def shuffle_keys(names: Sequence[str], seed: int) -> npt.NDArray[np.uint64]:
    """The key of each source's shuffle."""
    return np.array([xxhash.xxh3_64_intdigest(name.encode(), seed) for name in names], np.uint64)


class DrawStream:
    """An iterator over windows of draws. Its attributes say, at any moment, how far each source has come."""

    def __init__(
        self,
        lengths: Lengths,
        targets: npt.ArrayLike,
        keys: npt.NDArray[np.uint64] | None,
        window_tokens: int,
        start: npt.ArrayLike | None = None,
    ) -> None:
        """`keys` None: documents in stored order. `start`: where in each source's stream of documents to begin,
        such as the `positions` at which an earlier stream has stopped."""
        sources = len(lengths.first_document) - 1
        wanted = np.array(targets, np.int64)
        assert len(wanted) == sources <= 1 << 16 and window_tokens > 0
        assert not np.any((wanted > 0) & (lengths.source_tokens == 0)), "a target for a source without tokens"
        no_keys = np.zeros(0, np.uint64)
        self._supply = Supply(
            lengths=_read_only(lengths.tokens),
            first_document=_read_only(lengths.first_document),
            targets=_read_only(wanted),
            keys=_read_only(no_keys if keys is None else keys),
        )
        self._state = State(
            drawn_tokens=np.zeros(sources, np.int64),
            looked_up=np.zeros(sources, np.int64) if start is None else np.array(start, np.int64),
            taken=np.full(sources, LOOKAHEAD, np.int64),
            documents=np.zeros(sources * LOOKAHEAD, np.int64),
            tokens=np.zeros(sources * LOOKAHEAD, np.uint32),
        )
        self._window_tokens = window_tokens
        self.drawn_docs = np.zeros(sources, np.int64)

    @property
    def drawn_tokens(self) -> npt.NDArray[np.int64]:
        """Tokens drawn of each source so far."""
        return np.array(self._state.drawn_tokens)

    @property
    def positions(self) -> npt.NDArray[np.int64]:
        """Documents of each source's stream that are behind us, over all epochs, those without tokens included."""
        positions: npt.NDArray[np.int64] = self._state.looked_up - LOOKAHEAD + self._state.taken
        return positions

    def __iter__(self) -> Iterator[Draws]:
        while (window := self._next_window()).source.size:
            self.drawn_docs += np.bincount(window.source, minlength=len(self.drawn_docs))
            yield window

    def _next_window(self) -> Draws:
        source = np.empty(WINDOW_DRAWS, np.uint16)
        document = np.empty(WINDOW_DRAWS, np.uint64)
        tokens = np.empty(WINDOW_DRAWS, np.uint32)
        draws = draw(self._supply, self._state, self._window_tokens, source, document, tokens)
        return Draws(source[:draws], document[:draws], tokens[:draws])


def _read_only(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    view: npt.NDArray[Number] = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view

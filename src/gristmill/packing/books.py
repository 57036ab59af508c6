"""The books of packed rows: tokens drawn = packed + cropped, by source; places = packed + padding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gristmill.packing.packers import Planned


@dataclass(frozen=True)
class PackedTokens:
    """What became of the tokens of one window's rows; tuples have one number a source."""

    rows: int
    segments: int
    packed_tokens: tuple[int, ...]
    cropped_tokens: tuple[int, ...]
    padding_tokens: int


def count_tokens(planned: Planned, sources: int) -> PackedTokens:
    """Count a planned window. Summed over all windows, packed + cropped are the draw plan's tokens."""
    draws, bins = planned
    tokens = np.zeros((2, sources), np.int64)
    is_cropped = (np.arange(len(bins.draw)) >= bins.placed).astype(np.int64)
    np.add.at(tokens, (is_cropped, draws.source[bins.draw]), bins.length)
    return PackedTokens(
        rows=bins.rows,
        segments=bins.placed,
        packed_tokens=tuple(tokens[0].tolist()),
        cropped_tokens=tuple(tokens[1].tolist()),
        padding_tokens=bins.padding_tokens,
    )

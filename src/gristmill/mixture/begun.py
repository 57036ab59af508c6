"""Where earlier stages of a mixture stopped. Apart from mix.py, for the process that only plans to load no kernel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Begun:
    """What was drawn of each source by all stages before; a stage goes on there."""

    positions: tuple[int, ...]  # documents of its stream that are behind us, over all epochs
    drawn_tokens: tuple[int, ...]
    drawn_docs: tuple[int, ...]
    reusable: bool  # whether what was drawn may be drawn again

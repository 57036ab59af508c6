"""mix: from what every source has to a draw plan on disk, with requested and achieved shares side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from gristmill.formats.draw_plan import write_draw_plan
from gristmill.mixture.begun import Begun
from gristmill.mixture.budget import Available, Budget, Policy, plan_budget
from gristmill.mixture.draws import DrawStream, shuffle_keys
from gristmill.mixture.lengths import Lengths


@dataclass(frozen=True)
class MixedSource:
    """The books of one source. available = drawn, here and by earlier stages, + unused, in the first epoch."""

    name: str
    weight: float | None
    requested_share: float
    achieved_share: float
    target_tokens: int
    drawn_tokens: int
    drawn_docs: int
    epochs: float
    available_tokens: int
    available_docs: int
    empty_docs: int
    unused_tokens: int
    unused_docs: int


@dataclass(frozen=True)
class Mix:
    """The books of the mixture."""

    sources: tuple[MixedSource, ...]
    asked_tokens: int | None
    target_tokens: int
    drawn_tokens: int
    drawn_docs: int
    positions: tuple[int, ...]  # documents of each source's stream that are behind us
    notes: tuple[str, ...]


def mix(
    path: str | os.PathLike[str],
    names: Sequence[str],
    weights: Sequence[float | None],
    lengths: Lengths,
    window_tokens: int,
    seed: int | None,
    tokens: int | None = None,
    epochs: float = 1.0,
    max_epochs: float = 4.0,
    when_exhausted: Policy = "redistribute",
    begun: Begun | None = None,
) -> Mix:
    """Write the draw plan to `path`. `seed` None: each source's documents in stored order. `begun`: by the stages
    before this one."""
    docs = [int(count) for count in lengths.first_document[1:] - lengths.first_document[:-1]]
    none = (0,) * len(names)
    begun = begun or Begun(none, none, none, reusable=False)
    had = zip(names, weights, lengths.source_tokens.tolist(), docs, strict=True)
    drawn = zip(begun.drawn_tokens, begun.drawn_docs, strict=True)
    available = [
        Available(name, weight, tokens_of, docs_of, tokens_drawn, docs_drawn, begun.reusable)
        for (name, weight, tokens_of, docs_of), (tokens_drawn, docs_drawn) in zip(had, drawn, strict=True)
    ]
    budget = plan_budget(available, tokens, epochs, max_epochs, when_exhausted)
    keys = None if seed is None else shuffle_keys(names, seed)
    targets = [portion.tokens for portion in budget.portions]
    stream = DrawStream(lengths, targets, keys, window_tokens, begun.positions)
    write_draw_plan(path, names, stream)
    return _books(budget, available, lengths, stream)


def _books(budget: Budget, available: Sequence[Available], lengths: Lengths, stream: DrawStream) -> Mix:
    total_tokens = int(stream.drawn_tokens.sum())
    sources = []
    for number, (portion, source) in enumerate(zip(budget.portions, available, strict=True)):
        drawn_tokens, drawn_docs = int(stream.drawn_tokens[number]), int(stream.drawn_docs[number])
        empty_docs = int(lengths.empty_docs[number])
        sources.append(
            MixedSource(
                name=source.name,
                weight=source.weight,
                requested_share=portion.share,
                achieved_share=drawn_tokens / total_tokens if total_tokens else 0.0,
                target_tokens=portion.tokens,
                drawn_tokens=drawn_tokens,
                drawn_docs=drawn_docs,
                epochs=drawn_tokens / source.tokens if source.tokens else 0.0,
                available_tokens=source.tokens,
                available_docs=source.docs,
                empty_docs=empty_docs,
                unused_tokens=max(0, source.tokens - source.drawn_tokens - drawn_tokens),
                unused_docs=max(0, source.docs - empty_docs - source.drawn_docs - drawn_docs),
            )
        )
    return Mix(
        sources=tuple(sources),
        asked_tokens=budget.asked_tokens,
        target_tokens=budget.tokens,
        drawn_tokens=total_tokens,
        drawn_docs=int(stream.drawn_docs.sum()),
        positions=tuple(stream.positions.tolist()),
        notes=budget.notes,
    )

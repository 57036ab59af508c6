"""How many tokens to take of each source. Pure arithmetic, in exact fractions: the same on every machine.

What enters: what each source has, its weight, and what is asked: a budget in tokens, or (without one) as much as
`epochs` passes over the sources allow. What leaves: a target for each source, and notes on every deviation from
what was asked. Guaranteed: no source with a target is without tokens, and the targets sum to the budget's tokens.

Without a budget of tokens, weights give the largest mixture in which the shares hold and no source is seen more
than `epochs` times; no weights give every document `epochs` times. With a budget, a source that would be repeated
more than `max_epochs` times is exhausted, and `when_exhausted` says what then:

- redistribute  it gives what it has, and the others take over the rest in proportion to their weights;
- repeat        it is repeated all the same;
- stop          the whole budget shrinks until the shares hold.

In a later stage of a mixture a source has what earlier stages left of it: documents that were never drawn or, where
documents may be used again, what is missing to `max_epochs` passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from gristmill.errors import LedgerError

Policy = Literal["redistribute", "repeat", "stop"]


@dataclass(frozen=True)
class Available:
    """What one source has. `weight` None: in proportion to its tokens."""

    name: str
    weight: float | None
    tokens: int
    docs: int
    drawn_tokens: int = 0  # by earlier stages
    drawn_docs: int = 0
    reusable: bool = False  # whether what earlier stages drew may be drawn again

    def cap(self, epochs: Fraction) -> int:
        """How many tokens it can give in so many passes."""
        if self.drawn_tokens and not self.reusable:
            return max(0, self.tokens - self.drawn_tokens)
        return max(0, int(epochs * self.tokens) - self.drawn_tokens)


@dataclass(frozen=True)
class Portion:
    """What one source gives. `share` is the normalised weight that was asked for."""

    name: str
    share: float
    tokens: int
    epochs: float
    exhausted: bool


@dataclass(frozen=True)
class Budget:
    """The portions in the order of the sources, their sum, and a sentence for each deviation."""

    portions: tuple[Portion, ...]
    tokens: int
    asked_tokens: int | None
    notes: tuple[str, ...]


def plan_budget(
    sources: Sequence[Available],
    tokens: int | None = None,
    epochs: float = 1.0,
    max_epochs: float = 4.0,
    when_exhausted: Policy = "redistribute",
) -> Budget:
    """The budget for these sources. Raises LedgerError where a source with a weight has nothing to give."""
    weights = [_fraction(source.tokens if source.weight is None else source.weight) for source in sources]
    _check_supply(sources, weights)
    weights_sum = sum(weights)
    shares = [weight / weights_sum for weight in weights]
    limit = _fraction(epochs if tokens is None else max_epochs)
    caps = [source.cap(limit) for source in sources]
    holds = min(int(cap / share) for cap, share in zip(caps, shares, strict=True) if share)  # while the shares hold
    asked = _whole(holds if tokens is None else tokens, shares)
    exhausted = {i for i, target in enumerate(asked) if tokens is not None and target > caps[i]}
    if tokens is None:
        targets = asked if _weighted(sources) else caps
    elif when_exhausted == "redistribute":
        targets, exhausted = _redistributed(tokens, shares, caps)
    elif when_exhausted == "stop":
        targets = _whole(min(tokens, holds), shares)
    else:
        targets = asked
    if not any(targets):
        raise LedgerError(
            f"expected a mixture of at least one token, found room for none: {_names(sources)}\n"
            "  Raise `mixture.tokens`, `mixture.epochs` or `mixture.max_epochs`, or leave out the smallest source."
        )

    portions = tuple(
        Portion(source.name, float(share), target, target / source.tokens if target else 0.0, i in exhausted)
        for i, (source, share, target) in enumerate(zip(sources, shares, targets, strict=True))
    )
    notes = []
    if _weighted(sources) and weights_sum != 1:
        notes.append(f"the weights sum to {float(weights_sum):.10g} and were divided by that")
    for i in sorted(exhausted):
        notes.append(_exhausted_note(sources[i], asked[i], targets[i], when_exhausted))
    if tokens is not None and sum(targets) < tokens:
        notes.append(f"the sources give {sum(targets):,} of the {tokens:,} tokens asked for")
    return Budget(portions, sum(targets), tokens, tuple(notes))


def _fraction(number: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth, so 0.7 + 0.3 is exactly 1."""
    return Fraction(str(number))


def _check_supply(sources: Sequence[Available], weights: Sequence[Fraction]) -> None:
    for source in sources:
        if source.tokens == 0 and source.weight:
            raise LedgerError(
                f"expected tokens of source `{source.name}` (weight {source.weight:g}), found none in its "
                f"{source.docs:,} documents\n  See in the report where they were dropped; or set its weight to 0."
            )
    if not any(weights):
        raise LedgerError(f"expected a source with tokens and a weight above 0, found none: {_names(sources)}")


def _whole(total: int, shares: Sequence[Fraction]) -> list[int]:
    """`total` split by the shares into whole tokens (largest remainders, the first of equal ones)."""
    exact = [total * share for share in shares]
    whole = [int(part) for part in exact]
    by_remainder = sorted(range(len(shares)), key=lambda i: (whole[i] - exact[i], i))
    for i in by_remainder[: total - sum(whole)]:
        whole[i] += 1
    return whole


def _redistributed(total: int, shares: Sequence[Fraction], caps: Sequence[int]) -> tuple[list[int], set[int]]:
    """`total` split by the shares, where what lies above a source's cap goes to the others by their shares; and
    which sources gave all they have."""
    held: set[int] = set()
    while True:
        rest = [Fraction(0) if i in held else share for i, share in enumerate(shares)]
        rest_tokens, rest_share = total - sum(caps[i] for i in held), sum(rest)
        if not rest_share:
            return [caps[i] if i in held else 0 for i in range(len(shares))], held
        targets = _whole(rest_tokens, [share / rest_share for share in rest])
        over = {i for i, target in enumerate(targets) if target > caps[i] and i not in held}
        if not over:
            return [caps[i] if i in held else target for i, target in enumerate(targets)], held
        held |= over


def _exhausted_note(source: Available, asked: int, given: int, policy: Policy) -> str:
    consequence = {
        "redistribute": "the other sources take over the rest",
        "repeat": "it is repeated all the same",
        "stop": "the whole budget shrinks with it",
    }[policy]
    before = f" ({source.drawn_tokens:,} tokens drawn by earlier stages)" if source.drawn_tokens else ""
    return (
        f"source `{source.name}` is exhausted{before}: {asked:,} tokens asked ({asked / source.tokens:.2f} epochs), "
        f"{given:,} given ({given / source.tokens:.2f} epochs); {consequence}"
    )


def _weighted(sources: Sequence[Available]) -> bool:
    return any(source.weight is not None for source in sources)


def _names(sources: Sequence[Available]) -> str:
    return ", ".join(f"`{source.name}` ({source.tokens:,} tokens)" for source in sources)

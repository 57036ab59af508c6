from __future__ import annotations

from dataclasses import dataclass

import pytest

from gristmill.filters.aliases import also_known_as


@also_known_as(theirs="ours")
@dataclass(frozen=True)
class Unit:
    ours: int = 1
    other: int = 2


def test_both_names_mean_the_same() -> None:
    assert Unit(theirs=3) == Unit(ours=3) == Unit(3)  # type: ignore[call-arg]
    assert Unit.ALIASES == {"theirs": "ours"}  # type: ignore[attr-defined]


def test_not_both_at_once() -> None:
    with pytest.raises(TypeError, match="expected `ours` once"):
        Unit(theirs=3, ours=3)  # type: ignore[call-arg]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(TypeError, match="nobody"):
        Unit(nobody=3)  # type: ignore[call-arg]

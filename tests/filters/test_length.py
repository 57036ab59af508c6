from __future__ import annotations

import pytest

import gristmill as gm

# Each rule: a text that it drops and a neighbour that just passes.
RULES = [
    ({"min_characters": 5}, "four", "fives", "length.min_characters"),
    ({"max_characters": 5}, "ffiive", "fives", "length.max_characters"),
    ({"min_words": 3}, "two words", "two  words more", "length.min_words"),
    ({"max_words": 2}, "two words more", "two words", "length.max_words"),
    ({"min_bytes": 6}, "Việ", "Việt", "length.min_bytes"),
    ({"max_bytes": 5}, "Việt", "Việ", "length.max_bytes"),
]


@pytest.mark.parametrize(("bounds", "dropped", "kept", "reason"), RULES)
def test_each_rule(bounds: dict[str, int], dropped: str, kept: str, reason: str) -> None:
    assert gm.filters.Length(**bounds).verdicts([dropped, kept]).to_pylist() == [reason, None]


def test_characters_are_code_points() -> None:
    assert gm.filters.Length(min_characters=4, max_characters=4).verdicts(["Việt", "🙂🙂🙂🙂"]).null_count == 2


def test_signals_are_those_with_bounds() -> None:
    signals = gm.filters.Length(min_words=1, max_bytes=10).signals(["a b", "Việt"])
    assert signals.to_pydict() == {"length.words": [2, 1], "length.bytes": [3, 6]}


def test_the_first_broken_rule_is_the_verdict() -> None:
    assert gm.filters.Length(min_characters=5, min_words=2).verdicts(["a"]).to_pylist() == ["length.min_characters"]


@pytest.mark.parametrize("bounds", [{}, {"min_words": -1}, {"min_words": 2.5}, {"min_bytes": 3, "max_bytes": 2}])
def test_impossible_bounds_are_refused(bounds: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        gm.filters.Length(**bounds)  # type: ignore[arg-type]


def test_no_texts() -> None:
    assert gm.filters.Length(min_words=1).verdicts([]).to_pylist() == []

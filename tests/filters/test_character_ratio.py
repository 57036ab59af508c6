from __future__ import annotations

from typing import Any

import pytest

import gristmill as gm

# Each rule: a text that it drops and a neighbour that just passes.
RULES = [
    ({"min_alphanumeric_ratio": 0.5}, "ab---", "ab--", "min_alphanumeric_ratio"),
    ({"max_alphanumeric_ratio": 0.5}, "việ-", "vi--", "max_alphanumeric_ratio"),
    ({"min_digit_ratio": 0.25}, "1abcd", "١abc", "min_digit_ratio"),
    ({"max_digit_ratio": 0.25}, "1²ab", "½1²abcde", "max_digit_ratio"),
    ({"min_uppercase_ratio": 0.5}, "Đaa", "Đa", "min_uppercase_ratio"),
    ({"max_uppercase_ratio": 0.5}, "БЙ日", "БЙ日本", "max_uppercase_ratio"),
    ({"min_whitespace_ratio": 0.2}, "a bcde", "a bcd", "min_whitespace_ratio"),
    ({"max_whitespace_ratio": 0.5}, "a\n\u3000", "a\n\u2028b", "max_whitespace_ratio"),
    ({"min_punctuation_ratio": 0.2}, "a.bcd+", "a.bcd", "min_punctuation_ratio"),
    ({"max_punctuation_ratio": 0.5}, "。_a", "。a", "max_punctuation_ratio"),
]


@pytest.mark.parametrize(("bounds", "dropped", "kept", "reason"), RULES)
def test_each_rule(bounds: dict[str, float], dropped: str, kept: str, reason: str) -> None:
    verdicts = gm.filters.CharacterRatio(**bounds).verdicts([dropped, kept])
    assert verdicts.to_pylist() == [f"character_ratio.{reason}", None]


def test_a_text_without_characters_has_no_share() -> None:
    verdicts = gm.filters.CharacterRatio(max_digit_ratio=1).verdicts(["", "1"])
    assert verdicts.to_pylist() == ["character_ratio.max_digit_ratio", None]


def test_signals_are_those_with_bounds() -> None:
    signals = gm.filters.CharacterRatio(max_digit_ratio=1, min_uppercase_ratio=0).signals(["A1b2"])
    assert signals.to_pydict() == {"character_ratio.digit": [0.5], "character_ratio.uppercase": [0.25]}


@pytest.mark.parametrize(
    "bounds",
    [{}, {"min_digit_ratio": -1}, {"max_digit_ratio": 1.5}, {"min_digit_ratio": "a"}, {"max_digit_ratio": float("nan")},
     {"min_digit_ratio": 0.5, "max_digit_ratio": 0.4}],
)  # fmt: skip
def test_impossible_bounds_are_refused(bounds: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        gm.filters.CharacterRatio(**bounds)

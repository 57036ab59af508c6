from __future__ import annotations

from typing import Any

import pytest

import gristmill as gm
from gristmill.units import choose

SHORT = "short_line_ratio"
# Bounds that nothing breaks.
WIDE: dict[str, Any] = {
    "min_line_punctuation_ratio": 0,
    "max_short_line_ratio": 1,
    "max_duplicate_line_characters": 1,
    "max_newline_word_ratio": 1e9,
}


def lines(ending: int, others: int) -> str:
    return "\n".join([f"line {number}." for number in range(ending)] + [f"line {number}" for number in range(others)])


def lengths(*characters: int) -> str:
    return "\n".join("é" * length for length in characters)


# Each rule, alone and with its default: a text that it drops and a neighbour that just passes.
RULES: list[tuple[dict[str, Any], str, str, str]] = [
    ({}, " \n\t\n", " \na\n", "empty"),
    ({"min_line_punctuation_ratio": 0.12}, lines(2, 23), lines(3, 22), "line_punct_ratio"),
    ({"min_line_punctuation_ratio": 0.12}, "so. \n\n\n", "so。\n\n\n", "line_punct_ratio"),
    (
        {"min_line_punctuation_ratio": 0.12, "keep_without_punctuation": True},
        lines(2, 23),
        lines(0, 25),
        "line_punct_ratio",
    ),
    ({"min_line_punctuation_ratio": 0.12, "line_endings": ["!"]}, "so.", "so!", "line_punct_ratio"),
    (
        {"max_short_line_ratio": 0.67},
        lengths(*[30] * 68, *[31] * 32),
        lengths(*[30] * 67, *[31] * 33),
        "short_line_ratio",
    ),
    ({"max_short_line_ratio": 0.67, "short_line_length": 3}, lengths(3, 3, 3), lengths(3, 3, 4), SHORT),
    ({"max_duplicate_line_characters": 0.01}, lengths(2, 2, 195), lengths(2, 2, 196), "char_dup_ratio"),
    ({"max_newline_word_ratio": 0.3}, "a b\n" * 4 + "c d", "a b\n" * 3 + "c d e f", "list_ratio"),
]


@pytest.mark.parametrize(("bounds", "dropped", "kept", "reason"), RULES)
def test_each_rule(bounds: dict[str, Any], dropped: str, kept: str, reason: str) -> None:
    unit = gm.filters.FineWebQuality(**{**WIDE, **bounds})
    assert unit.verdicts([dropped, kept]).to_pylist() == [f"fineweb_quality.{reason}", None]


def test_defaults_are_those_bounds() -> None:
    together = {name: bound for bounds, *_ in RULES for name, bound in bounds.items() if name in WIDE}
    assert together.keys() == WIDE.keys()
    assert gm.filters.FineWebQuality(**together) == gm.filters.FineWebQuality()


@pytest.mark.parametrize("rule", WIDE)
def test_each_rule_can_be_off(rule: str) -> None:
    dropped = next(text for bounds, text, _, _ in RULES if rule in bounds)
    assert gm.filters.FineWebQuality(**{**WIDE, rule: None}).verdicts([dropped]).to_pylist() == [None]


def test_datatroves_names() -> None:
    theirs = gm.filters.FineWebQuality(
        line_punct_thr=0.1,
        line_punct_exclude_zero=True,
        stop_chars=(".",),
        short_line_thr=0.2,
        short_line_length=3,
        char_duplicates_ratio=0.4,
        new_line_ratio=0.5,
        language="whitespace",
    )
    assert theirs == gm.filters.FineWebQuality(0.1, True, (".",), 0.2, 3, 0.4, 0.5, "whitespace")


def test_bounds_need_no_text() -> None:
    usual = choose("filter", "fineweb_quality").measuring_literals()
    for bounds in ({"max_short_line_ratio": 0.5}, {"keep_without_punctuation": True}):
        assert choose("filter", {"fineweb_quality": bounds}).measuring_literals() == usual
    for measure in ({"words": "whitespace"}, {"short_line_length": 3}, {"line_endings": ["."]}):
        assert choose("filter", {"fineweb_quality": measure}).measuring_literals() != usual


@pytest.mark.parametrize(
    "parameters",
    [{"max_short_line_ratio": "0.5"}, {"short_line_length": 2.5}, {"line_endings": "."}, {"line_endings": [1]}],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        gm.filters.FineWebQuality(**parameters)

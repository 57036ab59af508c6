from __future__ import annotations

from typing import Any

import pytest

import gristmill as gm
from gristmill.units import choose

OFF: dict[str, Any] = {
    "min_words": None,
    "max_words": None,
    "min_average_word_length": None,
    "max_average_word_length": None,
    "max_symbol_word_ratio": None,
    "max_bullet_lines_ratio": None,
    "max_ellipsis_lines_ratio": None,
    "min_alphabetic_words_ratio": None,
    "min_stop_words": None,
}


def lines(marked: int, plain: int, line: str) -> str:
    return "\n".join([line] * marked + ["word"] * plain)


# Each rule, alone and with its default: a text that it drops and a neighbour that just passes.
RULES: list[tuple[dict[str, Any], str, str, str]] = [
    ({"min_words": 50}, "word " * 49 + "! ( . …", "word " * 49 + "! ( . … 1", "short_doc"),
    ({"max_words": 100_000}, "word " * 100_001, "word " * 100_000 + "! !", "long_doc"),
    ({"min_average_word_length": 3}, "aaa bb !!!!!", "aaa bbb !", "below_avg_threshold"),
    ({"max_average_word_length": 10}, "a" * 10 + " " + "é" * 11, "a" * 9 + " " + "é" * 11, "above_avg_threshold"),
    ({"max_symbol_word_ratio": 0.1}, "# " + "a " * 8, "# " + "a " * 9, "too_many_hashes"),
    ({"max_symbol_word_ratio": 0.1}, "... " + "a " * 8, "... " + "a " * 9, "too_many_ellipsis"),
    ({"max_symbol_word_ratio": 0.1}, "… " + "a " * 8, "… " + "a " * 9, "too_many_ellipsis"),
    ({"max_bullet_lines_ratio": 0.9}, lines(10, 0, " - item"), lines(9, 1, " - item"), "too_many_bullets"),
    ({"max_bullet_lines_ratio": 0.9}, lines(19, 1, "•item"), lines(18, 2, "•item"), "too_many_bullets"),
    ({"max_ellipsis_lines_ratio": 0.3}, lines(4, 6, "so... "), lines(3, 7, "so... "), "too_many_end_ellipsis"),
    ({"max_ellipsis_lines_ratio": 0.3}, lines(4, 6, "so…"), lines(3, 7, "so…"), "too_many_end_ellipsis"),
    ({"min_alphabetic_words_ratio": 0.8}, "a b c 1 !", "a b c d1 !", "below_alpha_threshold"),
    ({"min_stop_words": 2}, "the the The", "the to", "enough_stop_words"),
]


@pytest.mark.parametrize(("bounds", "dropped", "kept", "reason"), RULES)
def test_each_rule(bounds: dict[str, Any], dropped: str, kept: str, reason: str) -> None:
    unit = gm.filters.GopherQuality(**{**OFF, **bounds})
    assert unit.verdicts([dropped, kept]).to_pylist() == [f"gopher_quality.gopher_{reason}", None]


def test_defaults_are_those_bounds() -> None:
    together = {name: bound for bounds, *_ in RULES for name, bound in bounds.items()}
    assert together.keys() == OFF.keys()
    assert gm.filters.GopherQuality(**together) == gm.filters.GopherQuality()


@pytest.mark.parametrize("bound", ["min_average_word_length", "max_symbol_word_ratio", "min_alphabetic_words_ratio"])
def test_a_share_of_nothing_is_out_of_bounds(bound: str) -> None:
    unit = gm.filters.GopherQuality(**{**OFF, bound: 0.5})
    assert unit.verdicts(["", " \n"]).null_count == 0


def test_own_stop_words() -> None:
    unit = gm.filters.GopherQuality(**{**OFF, "min_stop_words": 2}, stop_words=["và", "của"])
    assert unit.verdicts(["the to", "và của", "và và"]).to_pylist() == [
        "gopher_quality.gopher_enough_stop_words",
        None,
        "gopher_quality.gopher_enough_stop_words",
    ]


def test_words_by_choice() -> None:
    bounds = {**OFF, "min_words": 3}
    assert gm.filters.GopherQuality(**bounds).verdicts(["a well-known"]).null_count == 1
    assert gm.filters.GopherQuality(**bounds, words="whitespace").verdicts(["a well-known"]).null_count == 0


def test_datatroves_names() -> None:
    theirs = gm.filters.GopherQuality(
        min_doc_words=1,
        max_doc_words=2,
        min_avg_word_length=3,
        max_avg_word_length=4,
        max_symbol_word_ratio=0.5,
        max_bullet_lines_ratio=0.6,
        max_ellipsis_lines_ratio=0.7,
        max_non_alpha_words_ratio=0.8,
        min_stop_words=9,
        stop_words=["a"],
        language="whitespace",
    )
    assert theirs == gm.filters.GopherQuality(1, 2, 3, 4, 0.5, 0.6, 0.7, 0.8, 9, ("a",), "whitespace")


def test_bounds_need_no_text() -> None:
    usual = choose("filter", "gopher_quality").measuring_literals()
    for bounds in ({"min_words": 20}, {"max_words": 200_000}, {"min_stop_words": None}):
        assert choose("filter", {"gopher_quality": bounds}).measuring_literals() == usual
    for measure in ({"words": "whitespace"}, {"stop_words": ["a"]}):
        assert choose("filter", {"gopher_quality": measure}).measuring_literals() != usual


@pytest.mark.parametrize(
    "parameters",
    [{"min_words": "50"}, {"min_words": -1}, {"min_stop_words": True}, {"stop_words": "the"}, {"stop_words": [1]}],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        gm.filters.GopherQuality(**parameters)

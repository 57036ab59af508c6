from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import gristmill as gm
from gristmill.units import choose

OFF: dict[str, Any] = {
    "max_duplicate_lines": None,
    "max_duplicate_paragraphs": None,
    "max_duplicate_line_characters": None,
    "max_duplicate_paragraph_characters": None,
    "max_top_ngrams": (),
    "max_duplicate_ngrams": (),
}
_LETTERS = "abcdefghij"


def pieces(different: int, repeated: int, separator: str) -> str:
    return separator.join([*_LETTERS[:different], *_LETTERS[:repeated]])


def twice(words: int, characters: int) -> str:
    """So many words twice in a text of so many characters."""
    row = " ".join(_LETTERS[:words])
    return f"{row} x {row} ".ljust(characters, "y")


# Each rule, alone and with its default: a text that it drops and a neighbour that just passes.
RULES: list[tuple[dict[str, Any], str, str, str]] = [
    ({}, "", "a", "empty"),
    ({"max_duplicate_lines": 0.3}, pieces(6, 4, "\n"), pieces(7, 3, "\n"), "dup_line_frac"),
    ({"max_duplicate_lines": 0.3}, "a\n\na", "a\na \nb\n", "dup_line_frac"),
    ({"max_duplicate_paragraphs": 0.3}, pieces(6, 4, "\n\n"), pieces(7, 3, "\n\n\n"), "dup_para_frac"),
    ({"max_duplicate_line_characters": 0.2}, "abcd\nabcd\nefghijklm", "abcd\nabcd\nefghijklmn", "dup_line_char_frac"),
    (
        {"max_duplicate_paragraph_characters": 0.2},
        "abcd\n\nabcd\n\nefghijk",
        "abcd\n\nabcd\n\nefghijkl",
        "dup_para_char_frac",
    ),
    ({"max_top_ngrams": {2: 0.2}}, twice(2, 29), twice(2, 30), "top_2_gram"),
    ({"max_top_ngrams": {3: 0.18}}, twice(3, 55), twice(3, 56), "top_3_gram"),
    ({"max_top_ngrams": {4: 0.16}}, twice(4, 87), twice(4, 88), "top_4_gram"),
    ({"max_duplicate_ngrams": {5: 0.15}}, twice(5, 33), twice(5, 34), "duplicated_5_n_grams"),
    ({"max_duplicate_ngrams": {6: 0.14}}, twice(6, 42), twice(6, 43), "duplicated_6_n_grams"),
    ({"max_duplicate_ngrams": {7: 0.13}}, twice(7, 53), twice(7, 54), "duplicated_7_n_grams"),
    ({"max_duplicate_ngrams": {8: 0.12}}, twice(8, 66), twice(8, 67), "duplicated_8_n_grams"),
    ({"max_duplicate_ngrams": {9: 0.11}}, twice(9, 81), twice(9, 82), "duplicated_9_n_grams"),
    ({"max_duplicate_ngrams": {10: 0.1}}, twice(10, 99), twice(10, 100), "duplicated_10_n_grams"),
]


@pytest.mark.parametrize(("bounds", "dropped", "kept", "reason"), RULES, ids=[reason for *_, reason in RULES])
def test_each_rule(bounds: dict[str, Any], dropped: str, kept: str, reason: str) -> None:
    unit = gm.filters.GopherRepetition(**{**OFF, **bounds})
    assert unit.verdicts([dropped, kept]).to_pylist() == [f"gopher_repetition.{reason}", None]


def test_defaults_are_those_bounds() -> None:
    together: dict[str, Any] = {}
    for bounds, *_ in RULES:
        for name, bound in bounds.items():
            together[name] = {**together.get(name, {}), **bound} if isinstance(bound, Mapping) else bound
    assert gm.filters.GopherRepetition(**together) == gm.filters.GopherRepetition()


def test_datatroves_names() -> None:
    theirs = gm.filters.GopherRepetition(
        dup_line_frac=0.1,
        dup_para_frac=None,
        dup_line_char_frac=0.2,
        dup_para_char_frac=0.3,
        top_n_grams=((2, 0.4),),
        dup_n_grams=[[5, 0.5]],
        language="whitespace",
    )
    assert theirs == gm.filters.GopherRepetition(0.1, None, 0.2, 0.3, {2: 0.4}, {5: 0.5}, "whitespace")


def test_bounds_need_no_text() -> None:
    usual = choose("filter", "gopher_repetition").measuring_literals()
    for bounds in ({"max_duplicate_lines": 0.1}, {"max_top_ngrams": {2: 0.5, 3: 0.5, 4: 0.5}}):
        assert choose("filter", {"gopher_repetition": bounds}).measuring_literals() == usual
    for measure in ({"words": "whitespace"}, {"max_top_ngrams": {2: 0.2}}):
        assert choose("filter", {"gopher_repetition": measure}).measuring_literals() != usual


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_duplicate_lines": "0.3"},
        {"max_duplicate_lines": -0.1},
        {"max_top_ngrams": {0: 0.2}},
        {"max_top_ngrams": {2: None}},
        {"max_top_ngrams": [2, 3]},
        {"max_duplicate_ngrams": [[5, 0.1], [5, 0.2]]},
        {"words": "Klingon"},
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        gm.filters.GopherRepetition(**parameters)


def test_numbers_as_json_writes_them_are_numbers() -> None:
    """A run's own recipe.yaml has such keys."""
    as_written = {"2": 0.25, "3": 0.2}
    meant: dict[int, float] = {2: 0.25, 3: 0.2}
    assert gm.filters.GopherRepetition(max_top_ngrams=as_written) == gm.filters.GopherRepetition(max_top_ngrams=meant)

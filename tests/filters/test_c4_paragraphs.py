from __future__ import annotations

from typing import Any

import pytest

import gristmill as gm
from gristmill.units import choose

LONG, SHORT = "é" * 200, "é" * 199


@pytest.mark.parametrize(
    ("dropped", "kept"),
    [
        (f"{LONG}\n{LONG}\n{SHORT}", f"{LONG}\n{LONG}\n{LONG}"),
        (f"{LONG}\n{LONG}", f"{LONG}\n\n{LONG}\nx\n{LONG}"),
        (f"{LONG}\r{LONG}\u2028{LONG}", f"{LONG}\r\n{SHORT}\r\n{SHORT} \n"),
        ("", " " * 200 + f"\n{LONG}\n{SHORT}\t"),
    ],
)
def test_its_rule(dropped: str, kept: str) -> None:
    assert gm.filters.C4Paragraphs().verdicts([dropped, kept]).to_pylist() == ["c4_paragraphs.< 3 paragraphs", None]


def test_other_numbers() -> None:
    unit = gm.filters.C4Paragraphs(min_paragraphs=2, min_paragraph_length=5)
    assert unit.verdicts(["three\nfour", "three\nseven"]).to_pylist() == ["c4_paragraphs.< 2 paragraphs", None]
    assert unit.signals(["three\nfour", "three\nseven"]).to_pydict() == {"c4_paragraphs.paragraphs": [1, 2]}


@pytest.mark.parametrize("parameters", [{"min_paragraphs": 0}, {"min_paragraph_length": 2.5}, {"min_paragraphs": True}])
def test_impossible_numbers_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a whole number from 1 up"):
        gm.filters.C4Paragraphs(**parameters)


def test_the_bound_needs_no_text() -> None:
    usual = choose("filter", "c4_paragraphs").measuring_literals()
    assert choose("filter", {"c4_paragraphs": {"min_paragraphs": 2}}).measuring_literals() == usual
    assert choose("filter", {"c4_paragraphs": {"min_paragraph_length": 2}}).measuring_literals() != usual

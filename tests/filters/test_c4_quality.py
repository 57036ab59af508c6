from __future__ import annotations

from typing import Any

import pytest

import gristmill as gm
from gristmill.document import large_strings
from gristmill.filters.view import TextView
from gristmill.units import choose

FIVE = "One is here. Two is here. Three is here. Four is here. Five is here."
FOUR = "One is here. Two is here. Three is here. Four is here."

# Rules on documents: a text that it drops and a neighbour that just passes.
DOCUMENTS = [
    (FOUR, FIVE, "too_few_sentences"),
    (FOUR + "\nAnd five", FOUR + "\nAnd now five.", "too_few_sentences"),
    ("", FIVE, "too_few_sentences"),
    (FIVE + "\nIt says LOREM ipsum.", FIVE + "\nIt says lorem  ipsum.", "lorem_ipsum"),
    (FIVE + "\nIt says lorem[1] ipsum.", FIVE + "\nIt says lorem ipsum", "lorem_ipsum"),
    (FIVE + "\nIt has a { in it.", FIVE + "\nIt has a } in it.", "curly_bracket"),
    (FIVE + "\nIt has a { in it.", FIVE + "\nIt has javascript { in it.", "curly_bracket"),
    (FIVE + "\nOf lorem ipsum { one.", FIVE + "\n{ lorem ipsum", "lorem_ipsum"),
    (FIVE + "\nThat { comes first.\nOf lorem ipsum.", FIVE, "curly_bracket"),
    (FIVE + "\nOf lorem ipsum.\nThat { comes next.", FIVE, "lorem_ipsum"),
    (FIVE + "\nOf the privacy policy {.", FIVE + "\nOf the javascript {.", "curly_bracket"),
]

# Rules on lines: a line that goes and a neighbour that just stays, both as they are written.
LINES: list[tuple[dict[str, Any], str, str]] = [
    ({}, "Not a sentence", "But a sentence."),
    ({}, "It goes on...", "It goes on.."),
    ({}, "It goes on…", 'It goes "on"'),
    ({}, "Two words.", "Three words here."),
    ({"min_words_per_line": 2}, "One.", "Two words."),
    ({"max_word_length": 9}, "It is impossible now.", "It is possible. Really so."),
    ({}, "It is " + "x" * 1000 + ".", "It is " + "x" * 999 + "."),
    ({}, "It is " + "é" * 1001 + " here.", "It is " + "é" * 1000 + " here."),
    ({}, "Turn JavaScript on.", "Turn Java script on."),
    ({}, "See the Terms of Use.", "See the terms of us."),
    ({}, "See our privacy policy.", "See our private policy."),
    ({}, "See our cookie policy.", "See our cookies policy."),
    ({}, "The site uses cookies.", "The site used cookies."),
    ({}, "The use of cookies.", "The use of a cookie."),
    ({}, "We use coo\u212aies here.", "We use cookie jars."),
    ({}, "Ends with one.[1] x", "It ends with.. [1]."),
]


@pytest.mark.parametrize(("dropped", "kept", "reason"), DOCUMENTS)
def test_each_rule_on_documents(dropped: str, kept: str, reason: str) -> None:
    assert gm.filters.C4Quality().verdicts([dropped, kept]).to_pylist() == [f"c4_quality.{reason}", None]


@pytest.mark.parametrize(("parameters", "goes", "stays"), LINES)
def test_each_rule_on_lines(parameters: dict[str, Any], goes: str, stays: str) -> None:
    unit = gm.filters.C4Quality(min_sentences=None, remove_citations=False, **parameters)
    assert unit.rewrite([goes, stays, f"{stays}\n{goes}\r\n{stays}"]).to_pylist() == ["", stays, f"{stays}\n{stays}"]


OFF = [
    ("require_terminal_mark", "Not a sentence"),
    ("drop_javascript_lines", "Turn JavaScript on."),
    ("drop_policy_lines", "See our privacy policy."),
    ("drop_lorem_ipsum", "Of lorem ipsum."),
    ("drop_curly_brackets", "Of a { bracket."),
]


@pytest.mark.parametrize(("rule", "text"), OFF)
def test_each_rule_can_be_off(rule: str, text: str) -> None:
    for is_on in (True, False):
        unit = gm.filters.C4Quality(min_sentences=1, **{rule: is_on})
        assert (unit.verdicts([text]).to_pylist() == [None]) is not is_on


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("As known[1] to all[23].", "As known to all."),
        ("As known[] to[edit] all[citation needed].", "As known to all."),
        ("As known[Edit] to [ 1] all[x].", "As known[Edit] to [ 1] all[x]."),
        ("[1] As known to all.[2]", "As known to all."),
        ("As known to all.[[3]]", ""),
        ("As it goes on..[3].", ""),
    ],
)
def test_citations_are_taken_out(text: str, left: str) -> None:
    assert gm.filters.C4Quality(min_sentences=None).rewrite([text]).to_pylist() == [left]


def test_blank_space_within_the_text_stays() -> None:
    text = "  [1] The first line. \n\n[2] The second line.\t\n"
    unit = gm.filters.C4Quality(min_sentences=2)
    assert unit.verdicts([text]).to_pylist() == [None]
    assert unit.rewrite([text]).to_pylist() == ["The first line.\n The second line."]


def test_sentences_instead_of_lines() -> None:
    text = "It is so. No. It\nreally is so. We use cookies. The end is here"
    unit = gm.filters.C4Quality(split_lines=False, min_sentences=2)
    assert unit.rewrite([text]).to_pylist() == ["It is so. It\nreally is so."]
    assert gm.filters.C4Quality(split_lines=False, min_sentences=3).verdicts([text]).null_count == 0


def test_dropped_texts_stay_as_they_are() -> None:
    assert gm.filters.C4Quality().rewrite([FOUR + "\nmenu", FIVE + "\nmenu"]).to_pylist() == [FOUR + "\nmenu", FIVE]


def test_datatroves_names() -> None:
    theirs = gm.filters.C4Quality(
        split_paragraph=False,
        filter_no_terminal_punct=False,
        min_num_sentences=-1,
        min_words_per_line=-1,
        max_word_length=-1,
        filter_javascript=False,
        filter_policy=False,
        filter_lorem_ipsum=False,
        filter_curly_bracket=False,
    )
    assert theirs == gm.filters.C4Quality(False, True, False, None, None, None, False, False, False, False)
    assert theirs.rewrite(["{ lorem ipsum javascript privacy policy[1] " + "x" * 2000]).to_pylist() == [
        "{ lorem ipsum javascript privacy policy " + "x" * 2000
    ]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"min_sentences": -2}, "expected min_sentences: a whole number"),
        ({"max_word_length": 2.5}, "expected max_word_length: a whole number"),
        ({"min_words_per_line": True}, "expected min_words_per_line: a whole number"),
        ({"remove_citations": 1}, "expected remove_citations: true or false"),
        ({"words": "whitespace"}, "because sentences are counted"),
        ({"words": "Klingon"}, "expected words"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        gm.filters.C4Quality(**parameters)


def test_bounds_need_no_text() -> None:
    bounds = [{"min_sentences": 3}, {"drop_lorem_ipsum": False}, {"drop_curly_brackets": False}]
    lines = [{"min_words_per_line": 4}, {"max_word_length": 4}, {"drop_policy_lines": False}, {"min_sentences": None}]
    usual = choose("filter", "c4_quality").measuring_literals()
    for one in bounds:
        assert choose("filter", {"c4_quality": one}).measuring_literals() == usual
    for one in lines:
        assert choose("filter", {"c4_quality": one}).measuring_literals() != usual


def test_signals_judge_alike_whatever_the_bounds() -> None:
    texts = [text for dropped, kept, _ in DOCUMENTS for text in (dropped, kept)]
    saved = gm.filters.C4Quality().measure(TextView(large_strings(texts)))
    for bounds in ({"min_sentences": 7}, {"drop_lorem_ipsum": False}, {"drop_curly_brackets": False}):
        unit = gm.filters.C4Quality(**bounds)
        assert unit.judge(saved).to_pylist() == unit.verdicts(texts).to_pylist()


def test_words_of_another_language() -> None:
    pytest.importorskip("datatrove", reason="datatrove, whose tokenizer it is, is not installed")
    unit = gm.filters.C4Quality(words="spa", min_sentences=2, min_words_per_line=1)
    assert unit.verdicts(["Hola, Sr. Pérez. ¿Qué tal?", "Hola, Sr. Pérez."]).to_pylist() == [
        None,
        "c4_quality.too_few_sentences",
    ]


def test_no_texts() -> None:
    assert gm.filters.C4Quality().verdicts([]).to_pylist() == []
    assert gm.filters.C4Quality().rewrite([]).to_pylist() == []

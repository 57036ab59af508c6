from __future__ import annotations

import re
from typing import Any

import pytest
from datatrove.data import Document
from datatrove.pipeline.filters import RegexFilter
from hypothesis import assume, example, given
from hypothesis import strategies as st

import gristmill as gm
from gristmill.filters.regular_language import as_re2

# Each rule: a text that it drops and a neighbour that just passes.
RULES = [
    ({"drop": "lorem +ipsum"}, "a lorem  ipsum b", "a loremipsum b", "regex.found"),
    ({"keep": "^Subject:"}, " Subject: a", "Subject: a", "regex.missing"),
]

# Parts of patterns: what RE2 reads differently, or not at all, is there on purpose.
PARTS = [
    *(
        "a",
        "b",
        "ab",
        "é",
        "日",
        ".",
        "[ab]",
        "[^a]",
        "[^\\n]",
        "[a-c日-本]",
        "^",
        "$",
        "\\A",
        "\\Z",
        "\\b",
        "\\d",
        "\\w",
    ),
    *(
        "\\s",
        "\\n",
        "\\x61",
        "\\u65e5",
        "\\0",
        "{",
        "}",
        "a{,2}",
        "b{2}",
        "a{1,}",
        "(a|b)",
        "(?:ab|)",
        "(?i:a)",
        "(?s:.)",
    ),
    *("(?=a)", "(?<!b)", "a*?", "b+?", "(a)\\1", "|", "a*", "(ab)+", "[\\d]", "[]a]", "[a\\]b]", "\\.", "-", "]", "🙂"),
    *("[[:alpha:]]", "\\pL", "(?P<n>b)", "[a&&b]", "\\Qa", "#", " "),
]
patterns: Any = st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("".join)
texts: Any = st.lists(
    st.sampled_from(
        ["a", "b", "ab", "A", "é", "e\u0301", "日", "本", "\n", "\r\n", "\u2028", "\0", "{", "}", "1", "٣", "🙂"]
    )
    | st.characters(exclude_categories=["Cs"]),
    max_size=8,
).map("".join)


def kept_by_datatrove(pattern: str, values: list[str]) -> list[bool]:
    judge = RegexFilter(pattern)
    return [bool(judge.filter(Document(text=value, id=""))) for value in values]


@pytest.mark.parametrize(("parameters", "dropped", "kept", "reason"), RULES)
def test_each_rule(parameters: dict[str, str], dropped: str, kept: str, reason: str) -> None:
    assert gm.filters.Regex(**parameters).verdicts([dropped, kept]).to_pylist() == [reason, None]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of Python, about patterns that may change their meaning
@given(patterns, st.lists(texts, max_size=6))
@example("a{,2}b", ["b", "a{,2}b"])
@example("a$", ["a\n", "a", "a\nb"])
@example(".", ["\n", "\r", "\u2028", "\0", ""])
@example("[^a]", ["\n", "a"])
@example("\\d", ["٣"])
@example("(?i)k", ["K"])
@example("", ["", "a"])
@example("日{3}|é", ["日日日", "日日", "é", "e\u0301"])
def test_decides_as_datatrove_does(pattern: str, values: list[str]) -> None:
    try:
        re.compile(pattern)
    except re.error:
        assume(False)
    kept = kept_by_datatrove(pattern, values)
    assert [verdict is None for verdict in gm.filters.Regex(drop=pattern).verdicts(values).to_pylist()] == kept
    occurs = [verdict is None for verdict in gm.filters.Regex(keep=pattern).verdicts(values).to_pylist()]
    assert occurs == [not one for one in kept]


@pytest.mark.parametrize(
    "pattern", ["a|b", "lorem +ipsum", "[^0-9]{3,7}x?", "(ab)*?c", "^日", "a.c", "a{,3}b", "\\u65e5"]
)
def test_regular_patterns_are_for_re2(pattern: str) -> None:
    assert as_re2(pattern) is not None


@pytest.mark.parametrize(
    "pattern",
    [
        "(?i)a",
        "\\d",
        "\\bfoo",
        "a$",
        "(?=a)",
        "(a)\\1",
        "(?s).",
        "(?m)^a",
        "a{1001}",
        "(?i:a)b",
        "\\Z",
        "(a{100}){100}",
    ],
)
def test_others_are_for_python(pattern: str) -> None:
    assert as_re2(pattern) is None


@pytest.mark.parametrize("parameters", [{}, {"drop": "a", "keep": "b"}, {"drop": "("}, {"keep": "[a"}, {"drop": 1}])
def test_impossible_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        gm.filters.Regex(**parameters)


def test_datatroves_name_is_known() -> None:
    assert gm.filters.Regex(regex_exp="a") == gm.filters.Regex(drop="a")


@pytest.mark.parametrize("long", ["x" * 1_000_000, "\n" * 1_000_000])
def test_long_texts(long: str) -> None:
    values = [long, long + "y"]
    assert gm.filters.Regex(drop="[xn]y|\ny").verdicts(values).to_pylist() == [None, "regex.found"]
    assert gm.filters.Regex(drop="y$").verdicts(values).to_pylist() == [None, "regex.found"]

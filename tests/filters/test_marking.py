"""Each rule that can point at something points at it."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from gristmill.filters import marking
from gristmill.filters.sequence import FilterSequence
from gristmill.units import choose


def marked(text: str, verdict: str, name: str, **parameters: Any) -> list[str]:
    """The marked parts, as the filter of this name marks them."""
    filters = FilterSequence([choose("filter", {name: parameters}).make("filter")])
    assert verdict in filters.rule_names()
    return [text[start:stop] for start, stop in filters.marks(text, verdict)]


GOPHER = "gopher_repetition"
MENU = "Home\nAbout\nHome\n  About\n\nHome"
CASES = [
    ("spam.phrase", "Please BUY NOW or never.", {}, ["BUY NOW"]),
    ("spam.phrase", "Hàng giả, MUA NGAY hôm nay", {"languages": [], "phrases": ["mua ngay"]}, ["MUA NGAY"]),
    (f"{GOPHER}.dup_line_frac", MENU, {}, ["Home", "About", "Home"]),
    (f"{GOPHER}.dup_para_frac", "A b.\nC.\n\nD.\n\nA b.\nC.", {}, ["A b.\nC."]),
    (f"{GOPHER}.top_2_gram", "buy it, buy it, or buy it", {}, ["buy it"] * 3),
    (f"{GOPHER}.duplicated_5_n_grams", "a b c d e f a b c d e", {}, ["a b c d e"]),
    ("gopher_quality.gopher_too_many_hashes", "a # b #", {}, ["#", "#"]),
    ("gopher_quality.gopher_too_many_ellipsis", "so ... and …", {}, ["...", "…"]),
    ("gopher_quality.gopher_too_many_bullets", "• one\ntwo\n  - three", {}, ["• one", "- three"]),
    ("gopher_quality.gopher_too_many_end_ellipsis", "read more...\nall of it.\nand …", {}, ["read more...", "and …"]),
    ("gopher_quality.gopher_below_alpha_threshold", "one 12 two + 3a", {}, ["12", "+"]),
    ("gopher_quality.gopher_above_avg_threshold", "short incomprehensibilities", {}, ["incomprehensibilities"]),
    ("fineweb_quality.short_line_ratio", "Short.\n" + "long " * 8, {}, ["Short."]),
    ("fineweb_quality.line_punct_ratio", "It ends.\nIt does not\n终于。", {}, ["It does not"]),
    ("fineweb_quality.char_dup_ratio", MENU, {}, ["Home", "About", "Home"]),
    ("c4_quality.curly_bracket", "if (a) { b }", {}, ["{"]),
    ("c4_quality.lorem_ipsum", "Here is Lorem Ipsum dolor.", {}, ["Lorem Ipsum"]),
    ("regex.found", "a1b22", {"drop": r"\d+"}, ["1", "22"]),
    ("character_ratio.max_digit_ratio", "a12b3", {"max_digit_ratio": 0.1}, ["12", "3"]),
    ("bad_words.document_removed_with_badwords", "Darn! Undarned, darn.", {"lists": ["darn"]}, ["Darn", "darn"]),
]


@pytest.mark.parametrize(("verdict", "text", "parameters", "parts"), CASES, ids=[case[0] for case in CASES])
def test_a_rule_marks_what_it_objects_to(verdict: str, text: str, parameters: dict[str, Any], parts: list[str]) -> None:
    assert marked(text, verdict, verdict.split(".")[0], **parameters) == parts


@pytest.mark.parametrize(
    ("verdict", "parameters"),
    [
        ("length.min_characters", {"min_characters": 5}),
        ("gopher_quality.gopher_short_doc", {}),
        ("c4_quality.too_few_sentences", {}),
        ("character_ratio.min_digit_ratio", {"min_digit_ratio": 0.5}),
    ],
)
def test_of_too_little_there_is_nothing_to_mark(verdict: str, parameters: dict[str, Any]) -> None:
    assert marked("A text.", verdict, verdict.split(".")[0], **parameters) == []


def test_the_second_filter_of_a_kind_marks_by_its_own_parameters() -> None:
    filters = FilterSequence([choose("filter", {"regex": {"drop": word}}).make("filter") for word in ("one", "two")])
    assert filters.marks("one two", "regex.found") == [(0, 3)]
    assert filters.marks("one two", "regex_2.found") == [(4, 7)]
    assert filters.marks("one two", "unreadable.json") == ()


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_phrases_are_found_in_any_normalisation(form: str) -> None:
    text = unicodedata.normalize(form, "Xin NHẤN VÀO ĐÂY nhé")
    [(start, stop)] = marking.phrases_in(text, ["nhấn vào đây"])
    assert unicodedata.normalize("NFC", text[start:stop]) == "NHẤN VÀO ĐÂY"


def test_ngrams_that_were_seen_do_not_overlap() -> None:
    text = "x x x x x x x"
    spans = marking.words_of(text, "whitespace")
    assert [text[slice(*span)] for span in marking.ngrams_seen_before(text, spans, 2)] == ["x x", "x x", "x x"]

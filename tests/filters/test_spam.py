from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import gristmill as gm
from gristmill.errors import FormatError
from reference import phrases as twin


def verdicts(texts: list[str], **parameters: Any) -> list[str | None]:
    return gm.filters.Spam(**parameters).verdicts(texts).to_pylist()


def embedded() -> list[str]:
    folder = Path(gm.filters.__file__).parent / "data"
    return [line for name in ("en", "vi") for line in (folder / f"spam.{name}.txt").read_text("utf-8").splitlines()]


# Each rule: a text that it drops and a neighbour that just passes.
RULES: list[tuple[dict[str, Any], str, str, str]] = [
    ({}, "Do not click here.", "Do not click  here.", "spam.phrase"),
    ({"max_hits": 1}, "Buy now, or call now", "Buy now, or call later", "spam.phrase"),
    ({"max_hits": None, "max_density": 100}, "Mua ngay", "Mua ngay đi", "spam.density"),
    ({"languages": ["vi"]}, "Mua ngay! Buy now!", "Buy now!", "spam.phrase"),
    ({"languages": [], "phrases": ["mắm tôm"]}, "MẮM TÔM, mua ngay", "mắm, mua ngay", "spam.phrase"),
]


@pytest.mark.parametrize(("parameters", "dropped", "kept", "reason"), RULES)
def test_each_rule(parameters: dict[str, Any], dropped: str, kept: str, reason: str) -> None:
    assert verdicts([dropped, kept], **parameters) == [reason, None]


def test_the_embedded_list_has_55_phrases_each_of_which_drops() -> None:
    assert len(embedded()) == 55
    for form in ("NFC", "NFD"):
        texts = [unicodedata.normalize(form, f"x {phrase.upper()}y") for phrase in embedded()]
        assert set(verdicts(texts)) == {"spam.phrase"}


def test_the_embedded_list_is_that_of_the_facts(corpora: Path) -> None:
    facts = yaml.safe_load((corpora.parent / "facts/spam-keywords.yaml").read_text("utf-8"))
    assert embedded() == [phrase for phrases in facts.values() for phrase in phrases]


def test_combining_marks_make_another_letter() -> None:
    assert verdicts(["mua ngay", "mua ngay\u0300", "mua ngạy"]) == ["spam.phrase", None, None]


def test_signals() -> None:
    signals = gm.filters.Spam().signals(["Order now, order now: free trial", "", "fine"]).to_pydict()
    assert signals == {
        "spam.hits": [3, 0, 0],
        "spam.density": [93.75, 0.0, 0.0],
        "spam.phrases": [2, 0, 0],
        "spam.first_phrase": ["order now", None, None],
    }


@given(st.lists(st.lists(st.sampled_from([*embedded(), " ", "x", "Đ", "\u0301", "日", "\0"]), max_size=5).map("".join)))
def test_any_occurrence_is_spam(texts: list[str]) -> None:
    spam = [any(phrase in twin.fold(text) for phrase in embedded()) for text in texts]
    assert [verdict is not None for verdict in verdicts(texts)] == spam


def test_own_lists_are_files_and_enter_fingerprints_by_what_they_hold(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    for file in (one, other):
        file.write_text("# ours\nXin Chào\n", encoding="utf-8")
    mine = gm.filters.Spam(languages=[], lists=[str(one)])
    assert mine.verdicts(["xin chào", "# ours"]).to_pylist() == ["spam.phrase", None]
    assert mine.measuring() == gm.filters.Spam(languages=[], lists=[str(other)]).measuring()
    with pytest.raises(FormatError, match=r"nowhere\.txt"):
        gm.filters.Spam(lists=["nowhere.txt"]).verdicts(["a"])


@pytest.mark.parametrize(
    "parameters",
    [
        {"languages": ["xx"]},
        {"languages": "en"},
        {"languages": []},
        {"phrases": [""]},
        {"phrases": "buy"},
        {"max_hits": -1},
        {"max_hits": 1.5},
        {"max_density": -0.5},
        {"max_density": float("nan")},
        {"max_hits": None},
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected|unknown"):
        gm.filters.Spam(**parameters)

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gristmill as gm
from gristmill.filters.fasttext_file import address_of
from gristmill.units import choose
from reference.fasttext_training import SYLLABLES

LID = address_of("lid.176.ftz")
TEXT = "ba koko ri nunu sha"
made_up = st.lists(st.sampled_from([*SYLLABLES, " ", "\n", "\u00a0", "\u3000", "\r\n"]), max_size=30).map("".join)


def score_of(model: str, label: str, text: str) -> float:
    signals = gm.filters.FastTextClassifier(model).signals([text])
    return float(signals[f"fasttext_classifier.score_{label}"][0].as_py())


# Each rule: a text, or a bound, that drops and a neighbour that just passes.
def test_a_kept_label_has_to_reach_its_score(trained: Callable[[str], Path]) -> None:
    model = str(trained("words"))
    score = score_of(model, "l1_x", TEXT)
    passes = gm.filters.FastTextClassifier(model, keep={"l1_x": score})
    drops = gm.filters.FastTextClassifier(model, keep={"l1_x": score + 1e-6})
    assert passes.verdicts([TEXT]).to_pylist() == [None]
    assert drops.verdicts([TEXT]).to_pylist() == ["fasttext_classifier.low_score"]


def test_one_of_several_kept_labels_is_enough(trained: Callable[[str], Path]) -> None:
    model = str(trained("words"))
    score = score_of(model, "l1_x", TEXT)
    unit = gm.filters.FastTextClassifier(model, keep=[("l0_x", 1.5), ("l1_x", score)])
    assert unit.verdicts([TEXT]).to_pylist() == [None]


def test_a_removed_label_must_not_reach_its_score(trained: Callable[[str], Path]) -> None:
    model = str(trained("tree"))
    score = score_of(model, "l1_x", TEXT)
    drops = gm.filters.FastTextClassifier(model, remove={"l1_x": score})
    passes = gm.filters.FastTextClassifier(model, remove={"l1_x": score + 1e-6})
    assert drops.verdicts([TEXT]).to_pylist() == ["fasttext_classifier.is_l1_x"]
    assert passes.verdicts([TEXT]).to_pylist() == [None]


def test_blank_texts_go(trained: Callable[[str], Path]) -> None:
    unit = gm.filters.FastTextClassifier(str(trained("words")))
    assert unit.verdicts(["\u3000\n ", "", "x"]).to_pylist() == ["fasttext_classifier.empty"] * 2 + [None]


def test_what_becomes_of_newlines(trained: Callable[[str], Path]) -> None:
    model = str(trained("words"))

    def scores(texts: list[str], replacement: str) -> list[float]:
        unit = gm.filters.FastTextClassifier(model, newline_replacement=replacement)
        return unit.signals(texts)["fasttext_classifier.score"].to_pylist()

    joined, parted = "bako ri", "ba ko ri"
    assert scores(["ba\nko ri"], "") == scores([joined], "") != scores([parted], "")
    assert scores(["ba\nko ri"], " ") == scores([parted], " ")
    assert scores(["ba\nko ri"], " nu ") == scores(["ba nu ko ri"], " nu ")


def test_signals_of_few_and_of_many_labels(trained: Callable[[str], Path]) -> None:
    few = gm.filters.FastTextClassifier(str(trained("words"))).signals([TEXT])
    assert sum("score_" in name for name in few.column_names) == 5
    many = gm.filters.FastTextClassifier(LID, remove={"vi": 0.5}).signals([TEXT])
    assert many.column_names[-1] == "fasttext_classifier.score_vi" and many.num_columns == 4


def test_a_changed_bound_needs_no_text(trained: Callable[[str], Path]) -> None:
    def measured(**parameters: Any) -> dict[str, Any]:
        return choose(
            "filter", {"fasttext_classifier": {"model": str(trained("words")), **parameters}}
        ).measuring_literals()

    assert measured() == measured(keep={"l0_x": 0.5}) == measured(remove={"l1_x": 0.2})
    assert measured() != measured(newline_replacement=" ")


@pytest.mark.parametrize(
    "parameters",
    [
        {"keep": {"l0_x": 0.1}, "remove": {"l1_x": 0.1}},
        {"keep": {"nobody": 0.1}},
        {"keep": {"l0_x": "much"}},
        {"keep": [("l0_x", 0.1), ("l0_x", 0.2)]},
        {"keep": ["l0_x"]},
        {"newline_replacement": "\n"},
        {"newline_replacement": None},
        {"model": ""},
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any], trained: Callable[[str], Path]) -> None:
    with pytest.raises(ValueError, match=r"expected|unknown label"):
        gm.filters.FastTextClassifier(**{"model": str(trained("words")), **parameters})


@pytest.mark.parametrize("name", ["words", "everything", "packed tree"])
@settings(max_examples=25)
@given(text=made_up, score=st.floats(0, 1), keeps=st.booleans(), replacement=st.sampled_from(["", " ", "|"]))
def test_decides_as_datatrove(
    trained: Callable[[str], Path], name: str, text: str, score: float, keeps: bool, replacement: str
) -> None:
    pytest.importorskip("datatrove", reason="datatrove, the judge, is not installed; Gristmill runs without it")
    from gristmill.filters.datatrove_judge import judge_of

    bounds = {"keep_labels" if keeps else "remove_labels": [("l0_x", score), ("l2_x", 0.9)]}
    unit = gm.filters.FastTextClassifier(model_url=str(trained(name)), newline_replacement=replacement, **bounds)  # type: ignore[call-arg]
    judge = judge_of(unit)
    assert judge is not None
    assert (unit.verdicts([text]).to_pylist() == [None]) == (judge.verdict(text, {})[0] is None)

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gristmill as gm
from gristmill.errors import FormatError
from gristmill.filters.fasttext_file import address_of
from gristmill.formats import resource
from gristmill.units import choose

ENGLISH = "The people of this town have always been proud of their old library."
VIETNAMESE = "Người dân thị trấn này luôn tự hào về thư viện cổ của họ."
FRENCH = "Les habitants de cette ville ont toujours été fiers de leur bibliothèque."
GERMAN = "Die Leute in dieser Stadt waren immer stolz auf ihre alte Bibliothek."
UNSURE = "la casa on the top of der Berg et the mare"
TEXTS = [ENGLISH, VIETNAMESE, FRENCH, GERMAN, UNSURE, "", "12 34", "日本語のテキスト", f"{ENGLISH}\n{FRENCH}"]


def score_of(text: str) -> float:
    return float(gm.filters.Language(label_only=True).signals([text])["language.score"][0].as_py())


# Each rule: a text that it drops and a neighbour that just passes.
def test_other_languages_go() -> None:
    verdicts = gm.filters.Language(keep=["en", "vi"]).verdicts([FRENCH, VIETNAMESE, ENGLISH])
    assert verdicts.to_pylist() == ["language.other", None, None]


def test_a_score_has_to_exceed_the_threshold() -> None:
    at, below = score_of(UNSURE), score_of(UNSURE) - 1e-6
    drops = gm.filters.Language(threshold=at)
    passes = gm.filters.Language(threshold=below)
    assert drops.verdicts([UNSURE]).to_pylist() == ["language.low_score"]
    assert passes.verdicts([UNSURE]).to_pylist() == [None]


def test_a_language_may_have_a_threshold_of_its_own() -> None:
    score = score_of(VIETNAMESE)
    own = gm.filters.Language(keep=["en", "vi"], threshold=0.5, thresholds={"vi": score})
    assert own.verdicts([VIETNAMESE, ENGLISH]).to_pylist() == ["language.low_score", None]
    assert gm.filters.Language(threshold=0.5, thresholds={"vi": score}).verdicts([VIETNAMESE]).null_count == 0
    assert gm.filters.Language(thresholds={"vi": score - 1e-6}).verdicts([VIETNAMESE]).null_count == 1


def test_under_a_low_threshold_the_second_best_language_passes() -> None:
    best = gm.filters.Language(label_only=True).signals([UNSURE])["language.label"][0].as_py()
    also = [label for label in ("en", "de", "it", "fr") if label != best]
    unit = gm.filters.Language(keep=also, threshold=0.01)
    assert unit.verdicts([UNSURE, "日本語のテキスト"]).to_pylist() == [None, "language.other"]


def test_label_only_judges_nobody() -> None:
    unit = gm.filters.Language(keep="en", label_only=True)
    assert unit.verdicts([FRENCH, ""]).null_count == 2
    assert unit.signals([FRENCH])["language.label"].to_pylist() == ["fr"]


def test_signals() -> None:
    signals = gm.filters.Language(keep=["vi", "en"], threshold=0.3).signals([ENGLISH, ""])
    assert signals.column_names == ["language.label", "language.score", "language.score_en", "language.score_vi"]
    assert signals["language.label"].to_pylist() == ["en", "en"]
    assert signals["language.score"][0] == signals["language.score_en"][0]


def test_a_newline_is_a_blank() -> None:
    signals = gm.filters.Language().signals([f"{ENGLISH}\n{FRENCH}", f"{ENGLISH} {FRENCH}"])
    assert signals["language.score"][0] == signals["language.score"][1]


def test_a_changed_bound_needs_no_text() -> None:
    def measured(**parameters: Any) -> dict[str, Any]:
        return choose("filter", {"language": parameters}).measuring_literals()

    assert measured(keep=["en"]) == measured(keep=["vi", "fr"], threshold=0.9, thresholds={"vi": 0.6}) == measured()
    assert measured(keep=["en"], threshold=0.3) == measured(keep=["en"], threshold=0.2) != measured(keep=["en"])


def test_the_same_model_elsewhere_is_the_same(tmp_path: Path) -> None:
    copy = tmp_path / "a copy.ftz"
    copy.write_bytes(resource.read_bytes(address_of("lid.176.ftz")))
    here = choose("filter", {"language": {"keep": ["en"]}}).literals("filter")
    assert choose("filter", {"language": {"keep": ["en"], "model": str(copy)}}).literals("filter") == here
    remote = gm.filters.Language(keep=["en"], model=f"file://{copy}")
    assert remote.verdicts(TEXTS) == gm.filters.Language(keep=["en"]).verdicts(TEXTS)


def test_a_model_without_shares_asks_for_every_kept_label(trained: Callable[[str], Path]) -> None:
    unit = gm.filters.Language(keep=["l1_x", "l0_x"], model=str(trained("everything")), threshold=0.9)
    assert unit.signal_names()[2:] == ["language.score_l0_x", "language.score_l1_x"]


def test_a_text_of_which_the_model_knows_nothing(trained: Callable[[str], Path]) -> None:
    path = trained("packed, no ngram left")
    unit = gm.filters.Language(model=str(path))
    found = unit.signals(["x", "unheard of"])
    for label, verdict in zip(found["language.label"].to_pylist(), unit.verdicts(["x", "unheard of"]), strict=True):
        assert label is not None or verdict.as_py() == "language.low_score"


@pytest.mark.parametrize(
    "parameters",
    [
        {"keep": []},
        {"keep": [1]},
        {"keep": ["english"]},
        {"threshold": 1.5},
        {"threshold": True},
        {"threshold": None},
        {"thresholds": {"vi": "much"}},
        {"thresholds": 5},
        {"keep": ["en"], "thresholds": {"vi": 0.5}},
        {"model": ""},
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected|unknown label .*Known: af, als"):
        gm.filters.Language(**parameters)


def test_a_missing_model_is_named() -> None:
    with pytest.raises(FormatError, match=r"nowhere\.bin"):
        gm.filters.Language(model="nowhere.bin").verdicts(["a"])


def test_no_texts() -> None:
    assert gm.filters.Language(keep="en", threshold=0.2).verdicts([]).to_pylist() == []


texts = st.lists(st.one_of(st.sampled_from(TEXTS), st.text(st.characters(exclude_categories=["Cs"]), max_size=40)))


@settings(max_examples=40)
@given(
    texts=texts,
    keep=st.none() | st.lists(st.sampled_from(["en", "vi", "fr", "de", "ja", "it"]), min_size=1, unique=True),
    threshold=st.floats(0, 1),
)
def test_decides_as_datatrove(texts: list[str], keep: list[str] | None, threshold: float) -> None:
    pytest.importorskip("datatrove", reason="datatrove, the judge, is not installed; Gristmill runs without it")
    from gristmill.filters.datatrove_judge import judge_of

    unit = gm.filters.Language(languages=keep, language_threshold=threshold)  # type: ignore[call-arg]
    judge = judge_of(unit)
    assert judge is not None
    verdicts = unit.verdicts(pa.array(texts, pa.large_string())).to_pylist()
    assert [verdict is None for verdict in verdicts] == [judge.verdict(text, {})[0] is None for text in texts]

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_texts import texts

import gristmill as gm
from gristmill.document import large_strings
from gristmill.errors import FormatError, RecipeError
from gristmill.filters.sequence import FilterSequence
from gristmill.filters.view import TextView
from gristmill.units import choose

REASON = "bad_words.document_removed_with_badwords"
WORDS = ["darn", "oh dear", "a$$", "ärger", "μύς", "グロ", "ist", "-", "X"]


@pytest.mark.parametrize(
    ("dropped", "kept"),
    [
        ("Well, DARN it.", "Well, darned it."),
        ("darn", "darn_"),
        ("(darn)", "1darn"),
        ("Oh dear\nme", "oh  dear"),
        ("a$$ is it", "aa$$ is it"),
        ("ÄRGER", "ärgerlich"),
        ("ΜΎΣ", "μύσ"),
        ("İST and ist", "İST"),
        ("x - y", "x -y"),
        ("darn\n", "x X"),
    ],
)
def test_its_rule(dropped: str, kept: str) -> None:
    assert gm.filters.BadWords(lists=WORDS).verdicts([dropped, kept]).to_pylist() == [REASON, None]


def test_within_words_where_no_blanks_part_them() -> None:
    for language, verdict in (("ja", REASON), ("th", REASON), ("zh", REASON), ("ko", None)):
        assert gm.filters.BadWords([*WORDS, "下"], default_language=language).verdicts(["上下文"]).to_pylist() == [
            verdict
        ]


def test_allowed_words_are_fine() -> None:
    assert gm.filters.BadWords(["グロ"], default_language="ja").verdicts(["グログロ"]).null_count == 1
    assert gm.filters.BadWords(["グロ"], default_language="ja", allowed=()).verdicts(["グログロ"]).null_count == 0


def judged(unit: Any, values: list[str], languages: list[str | None]) -> list[str | None]:
    view = TextView(large_strings(values), {"language": pa.array(languages, pa.large_string())}.__getitem__)
    return unit.judge(unit.measure(view)).to_pylist()  # type: ignore[no-any-return]


def test_each_document_by_the_list_of_its_language() -> None:
    unit = gm.filters.BadWords({"en": ["darn"], "ja": ["下"]})
    assert judged(unit, ["darn 下", "下 x", "下x", "darn"], ["en", None, "ja", "ja"]) == [REASON, None, REASON, None]


def test_a_language_without_a_list() -> None:
    with pytest.raises(RecipeError, match="for language 'fr', found lists for en"):
        judged(gm.filters.BadWords(["darn"]), ["darn", "darn"], ["en", "fr"])
    lenient = gm.filters.BadWords(["darn"], fail_on_missing_language=False)
    assert judged(lenient, ["darn", "darn"], ["en", "fr"]) == [REASON, None]


def test_the_language_comes_from_the_metadata() -> None:
    columns = {"lang": large_strings(["ja", "en"])}
    unit = choose("filter", {"bad_words": {"lists": {"en": ["x"], "ja": ["y"]}, "language_column": "lang"}})
    sequence = FilterSequence([unit.make("filter")])
    signals, _ = sequence.measure(TextView(large_strings(["y", "y"])), columns.__getitem__)
    assert [which.tolist() for _, which in sequence.broken_rules(signals)] == [[True, False]]


def test_a_share_is_kept_by_the_hash_of_the_text() -> None:
    values = [f"darn {number}" for number in range(4000)]
    kept = {}
    for share in (0.0, 0.1, 0.5, 1.0):
        verdicts = gm.filters.BadWords(["darn"], keep_fraction=share).verdicts(values)
        kept[share] = {at for at, verdict in enumerate(verdicts.to_pylist()) if verdict is None}
        assert abs(len(kept[share]) / len(values) - share) < 0.03
    assert kept[0.0] < kept[0.1] < kept[0.5] < kept[1.0]
    unit = gm.filters.BadWords(["darn"], keep_fraction=0.5)
    assert unit.verdicts(values[::-1]).to_pylist()[::-1] == unit.verdicts(values).to_pylist()
    other = gm.filters.BadWords(["darn"], keep_fraction=0.5, seed=1).verdicts(values)
    assert other.to_pylist() != unit.verdicts(values).to_pylist()


def test_lists_from_files(tmp_path: Path) -> None:
    file = tmp_path / "en.txt"
    file.write_text("# mine\n darn \n\noh dear\n", encoding="utf-8")
    for lists in (str(file), f"file://{file}", {"en": str(file)}):
        assert gm.filters.BadWords(lists).verdicts(["DARN", "oh dear", "mine"]).to_pylist() == [REASON, REASON, None]
    with pytest.raises(FormatError, match=r"nowhere\.txt"):
        gm.filters.BadWords("nowhere.txt").verdicts(["a"])


def test_the_content_of_a_list_is_in_the_fingerprint_and_its_place_is_not(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("darn")
    other.write_text("darn")

    def literals(**parameters: Any) -> dict[str, Any]:
        return choose("filter", {"bad_words": parameters}).literals("filter")

    def measuring(**parameters: Any) -> dict[str, Any]:
        return choose("filter", {"bad_words": parameters}).measuring_literals()

    assert literals(lists=str(one)) == literals(lists=str(other))
    assert measuring(lists=str(one)) == measuring(lists=str(other), keep_fraction=0.1)
    assert measuring(lists=str(one)) != measuring(lists=str(one), seed=1)
    before = measuring(lists=str(one))
    one.write_text("darned")
    assert measuring(lists=str(one)) != before


@pytest.mark.parametrize(
    "parameters",
    [
        {"lists": ""},
        {"lists": []},
        {"lists": {}},
        {"lists": [1]},
        {"lists": {"en": ""}},
        {"lists": ["a"], "keep_fraction": 1.5},
        {"lists": ["a"], "keep_fraction": "0.5"},
        {"lists": ["a"], "seed": -1},
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        gm.filters.BadWords(**parameters)


PIECES = [*WORDS, "DARN", "Darn", "ΜΎΣ", "İ", "K", " ", " ", "\n", ".", "_", "é", "\u0301", "下", "$"]


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """datatrove's filter by language, over our list."""
    c4_filters = pytest.importorskip("datatrove.pipeline.filters.c4_filters", reason="datatrove, the judge, is missing")
    file = tmp_path_factory.mktemp("lists") / "words"
    file.write_text("\n".join(WORDS), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(c4_filters, "cached_asset_path_or_download", lambda *_, **__: str(file))
        found = {language: c4_filters.C4BadWordsFilter(default_language=language) for language in ("en", "ja")}
        for judge in found.values():
            judge._get_badwords(judge.default_language)
    return found


@settings(max_examples=400)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | texts, max_size=4))
def test_decides_as_datatrove(judges: dict[str, Any], values: list[str]) -> None:
    from datatrove.data import Document

    for language, judge in judges.items():
        answers = [judge.filter(Document(text=value, id="")) for value in values]
        theirs = [None if answer is True else f"bad_words.{answer[1]}" for answer in answers]
        assert gm.filters.BadWords(WORDS, default_language=language).verdicts(values).to_pylist() == theirs


def test_no_texts() -> None:
    assert gm.filters.BadWords(["a"]).verdicts([]).to_pylist() == []
    assert gm.filters.BadWords(["a"]).measure(TextView(large_strings([])))["bad_words.draw"].dtype == np.float64

"""datatrove's filters in the place of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

import gristmill as gm
from gristmill.filters.datatrove_judge import UNNAMED, judge_of


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # datatrove asks tldextract by an old name
def test_the_judge_of_urls_knows_files_column_and_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "domains.txt"
    file.write_text("example.com\n")
    judge = judge_of(gm.filters.Url(files={"domains": str(file)}, banned_words=["bad"], column="address"))
    assert judge is not None
    rows = [{"address": f"http://{rest}"} for rest in ("x.example.com", "a.com/bad", "a.com")] + [{}, {"url": "x"}]
    found = [judge.verdict("t", metadata)[0] for metadata in rows]
    assert found == ["url.domain", "url.hard_blacklisted", None, "url.missing", "url.missing"]
    lenient = judge_of(gm.filters.Url(urls=["x"], missing="keep"))
    assert lenient is not None
    assert lenient.verdict("t", {}) == (None, "t")


def test_the_judge_of_regular_expressions_drops_only() -> None:
    judge = judge_of(gm.filters.Regex(drop="a+"))
    assert judge is not None
    assert [judge.verdict(text, {})[0] for text in ("ba", "b")] == [UNNAMED, None]
    assert judge_of(gm.filters.Regex(keep="a+")) is None


def test_there_is_none_for_our_own() -> None:
    assert judge_of(gm.filters.Spam()) is None

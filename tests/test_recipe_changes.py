"""What the command line changes in a recipe before it is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gristmill import recipe_changes as changes
from gristmill.errors import RecipeError

STAGES = [
    {"name": "a", "tokens": "8T", "weights": {"web": 1.0}},
    {"name": "b", "tokens": "1T", "weights": {"web": 0.5, "wiki": 0.5}},
]


def recipe() -> dict[str, Any]:
    sources = [{"name": "web", "dataset": "org/web", "config": "en"}, {"name": "wiki", "dataset": "org/wiki"}]
    return {"sources": sources, "mixture": {"seed": 1, "stages": STAGES}, "output": {"path": "out", "texts": True}}


def test_parts_replace_only_what_they_name() -> None:
    changed = changes.with_parts(recipe(), {"output": {"path": "other"}, "engine": {"workers": 1}})
    assert changed["output"] == {"path": "other", "texts": True}
    assert changed["engine"] == {"workers": 1}


def test_sources_that_go_take_their_weights_and_empty_stages_with_them() -> None:
    changed = changes.only_sources(recipe(), ["wiki"])
    assert [source["name"] for source in changed["sources"]] == ["wiki"]
    assert changed["mixture"]["stages"] == [{"name": "b", "tokens": "1T", "weights": {"wiki": 0.5}}]
    assert changes.first_sources(recipe(), 1)["mixture"]["stages"][1]["weights"] == {"web": 0.5}
    with pytest.raises(RecipeError, match=r"unknown source `wikki`\. Did you mean `wiki`\?"):
        changes.only_sources(recipe(), ["wikki"])


def test_a_limit_is_each_sources() -> None:
    assert [source["limit"] for source in changes.limited(recipe(), 5)["sources"]] == [5, 5]


def test_every_budget_is_scaled() -> None:
    assert [stage["tokens"] for stage in changes.scaled(recipe(), 1e-6)["mixture"]["stages"]] == [8_000_000, 1_000_000]
    assert changes.scaled({"mixture": {"tokens": "10B"}}, 0.1)["mixture"] == {"tokens": 10**9}
    with pytest.raises(RecipeError, match="a budget of tokens"):
        changes.scaled({"sources": []}, 0.1)


def test_a_local_root_names_all_that_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as found:
        changes.on_local_root(recipe(), tmp_path)
    assert [problem.partition(":")[0] for problem in found.value.problems] == ["web", "wiki"]
    (tmp_path / "org" / "web" / "en").mkdir(parents=True)
    (tmp_path / "org_wiki").mkdir()
    places = [source["local"] for source in changes.on_local_root(recipe(), tmp_path)["sources"]]
    assert places == [str(tmp_path / "org" / "web" / "en"), str(tmp_path / "org_wiki")]


def test_nothing_is_changed_in_place() -> None:
    before = recipe()
    for change in (changes.limited(before, 1), changes.scaled(before, 2), changes.only_sources(before, ["web"])):
        assert change is not before
    assert before == recipe()

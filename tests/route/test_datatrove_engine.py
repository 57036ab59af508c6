"""datatrove's own filters in a recipe: in the place of ours, and by import path."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from route_inputs import make_recipe, packed_digest, write_jsonl

import gristmill as gm
from gristmill.errors import RecipeError
from gristmill.units import choose

pytest.importorskip("datatrove", reason="datatrove is not installed; Gristmill runs without it")
FILTERS = [
    {"length": {"min_characters": 20}},
    {"language": {"keep": ["en"], "threshold": 0.3}},
    {"c4_quality": {"min_sentences": None, "require_terminal_mark": False}},
    {"gopher_repetition": {"max_top_ngrams": {}, "max_duplicate_ngrams": {5: 0.3}}},
    {"regex": {"drop": "stone (9|27)\\b"}},
]
LAMBDA = "datatrove.pipeline.filters:LambdaFilter"
SAMPLER = "datatrove.pipeline.filters:SamplerFilter"


def own_rule(document: Any) -> bool:
    """What a user would have in a module of theirs."""
    return "cối" not in document.text or document.metadata["name"].endswith("7")


def input_of(folder: Path) -> None:
    code = "\nNo JavaScript here { } or there.\nwater wheel flour."
    pages = ["mill grain stone " * (1 + number % 9) + str(number) + code * (number % 2) for number in range(40)]
    for name, more in (("one", ["gạo gạo cối xay " * 9, "the end"]), ("two", ["Tout est bien qui finit bien. " * 9])):
        write_jsonl(folder / "raw" / f"{name}.jsonl", [*pages, *more, *[f"{page} {name}" for page in pages[:9]]])


def test_the_same_run_by_datatroves_filters(tmp_path: Path) -> None:
    """Same texts in the same rows, same ledger; the signals are theirs."""
    pytest.importorskip("spacy")
    pytest.importorskip("fasttext")
    input_of(tmp_path)
    ours = gm.run(make_recipe(tmp_path, filters=FILTERS))
    digest, entries = packed_digest(tmp_path / "out"), ours.ledger.of("sift")
    theirs = gm.run(make_recipe(tmp_path, filters=FILTERS, engine={"blocks": "datatrove", "workers": 0}))
    assert packed_digest(tmp_path / "out") == digest
    found = theirs.ledger.of("sift")
    assert [entry.gone for entry in found] == [entry.gone for entry in entries]
    assert {reason for entry in found for reason in entry.gone} >= {"language.other", "regex.found"}


def test_datatroves_blocks_by_import_path(tmp_path: Path) -> None:
    """A lambda that sees metadata, and arguments with defaults of their own."""
    sources = [{"name": "one", "path": str(tmp_path / "raw" / "one.jsonl"), "metadata_columns": ["name"]}]
    filters = [{LAMBDA: {"filter_function": f"{__name__}:own_rule"}}, {SAMPLER: {"rate": 0.7, "seed": 1}}]
    entry = gm.run(make_recipe(tmp_path, filters=filters, sources=sources)).ledger.of("sift")[0]
    assert entry.gone.keys() == {"LambdaFilter.dropped", "SamplerFilter.dropped"}


def test_a_users_own_subclass_is_a_filter() -> None:
    unit = choose("filter", {f"{__name__}:Long": {"least": 3}}).make("filter")
    assert unit.verdicts(["one two three", "one two"]).to_pylist() == [None, "Long.short_by_1"]
    with pytest.raises(ValueError, match=r"unknown parameter .*`most`.*known: least|`most`"):
        choose("filter", {f"{__name__}:Long": {"most": 3}})


def make_long() -> Any:
    from datatrove.pipeline.filters.base_filter import BaseFilter

    class Long(BaseFilter):
        name = "long"

        def __init__(self, least: int = 2, exclusion_writer: Any = None) -> None:
            super().__init__(exclusion_writer)
            self.least = least

        def filter(self, doc: Any) -> Any:
            words = len(doc.text.split())
            return words >= self.least or (False, f"short_by_{self.least - words}")

    return Long


Long = make_long()


def test_a_strangers_recipe_may_name_datatroves_filters_but_no_function(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path, filters=[{SAMPLER: {"rate": 0.5, "seed": 1}}])
    assert gm.Recipe.from_text(yaml.safe_dump(recipe)).filters[0].name == SAMPLER
    recipe["filters"] = [{LAMBDA: {"filter_function": "os:remove"}}]
    with pytest.raises(RecipeError, match="found code that this recipe would run: `os:remove`"):
        gm.Recipe.from_text(yaml.safe_dump(recipe))


def test_without_datatrove_the_mistake_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = make_recipe(tmp_path, engine={"blocks": "datatrove"})
    monkeypatch.setattr("gristmill.recipe_engine.find_spec", lambda name: None)
    with pytest.raises(RecipeError, match=r"engine.blocks.*pip install 'gristmill\[datatrove\]'"):
        gm.Recipe.from_dict(recipe)
    for name in [name for name in sys.modules if name.split(".")[0] == "datatrove"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "datatrove", None)
    with pytest.raises(RecipeError, match=r"pip install 'gristmill\[datatrove\]'"):
        gm.Recipe.from_dict(make_recipe(tmp_path, filters=[SAMPLER]))

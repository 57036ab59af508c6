from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gristmill as gm
from gristmill.errors import RecipeError
from gristmill.quantities import parse_bytes, parse_count, show_bytes, show_count, show_seconds
from gristmill.recipes import names, read_text

LEAST = """
sources: [{name: web, path: INPUT}]
tokenizer: {hub: org/name}
pack: {sequence_length: 64}
output: {path: out}
"""


@pytest.fixture
def least(tmp_path: Path) -> str:
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n')
    return LEAST.replace("INPUT", str(tmp_path / "a.jsonl"))


def test_four_keys_are_a_recipe(least: str) -> None:
    recipe = gm.Recipe.from_text(least)
    assert [choice.name for choice in recipe.clean] == ["unicode", "strip"]
    assert recipe.pack.strategy == "best_fit"


def test_five_mistakes_are_reported_at_once_with_their_places() -> None:
    text = """\
sources:
  - {name: web, path: nowhere/*.jsonl, wieght: 0.5}
filters:
  - lenght: {min_words: 3}
tokenizer: {path: missing.json}
pack: {strategy: best_fit, sequence_length: -5}
output: {path: out}
engine: {memory: lots}
"""
    with pytest.raises(RecipeError) as caught:
        gm.Recipe.from_text(text)
    expected = [
        "sources[0].wieght (line 2): unknown key `wieght`. Did you mean `weight`?",
        "filters[0] (line 4): unknown filter `lenght`. Did you mean `length`? Known: ",
        "pack.sequence_length (line 6): expected greater than or equal to 2, found -5",
        "engine.memory (line 8): expected a size such as 512MB, 4GB or 1048576, found 'lots'",
        "sources[0].path (line 2): expected at least one file, found nothing of that name: nowhere/*.jsonl",
        "tokenizer.path (line 5): expected a tokenizer.json or a folder with one, found nothing: missing.json",
    ]
    for problem, beginning in zip(caught.value.problems, expected, strict=True):
        assert problem.startswith(beginning)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sources": []}, "sources"),
        ({"sources": [{"name": "a"}]}, "expected either `path` or `dataset`, found neither"),
        ({"sources": [{"name": "a b", "dataset": "x"}]}, "sources[0].name"),
        ({"sources": [{"name": "a", "dataset": "x"}, {"name": "a", "dataset": "y"}]}, "`a` 2 times"),
        ({"sources": [{"name": "a", "dataset": "x", "weight": 0}]}, "at least one weight above 0"),
        ({"sources": [{"name": "a", "dataset": "x", "weight": 1}, {"name": "b", "dataset": "y"}]}, "without one: `b`"),
        ({"sources": [{"name": "a", "dataset": "x", "weight": float("nan")}]}, "sources[0].weight"),
        ({"tokenizer": {}}, "exactly one of `path`, `hub`, `train`, found none"),
        ({"tokenizer": {"hub": "a", "train": {}}}, "found ['hub', 'train']"),
        ({"filters": [{"length": {}}]}, "expected at least one bound"),
        ({"filters": [{"length": {"min_wrods": 1}}]}, "Did you mean `min_words`?"),
        ({"filters": "length"}, "filters: expected a list, found 'length'"),
        ({"filters": ["nowhere:Thing"]}, "expected a filter at `nowhere:Thing`, found none"),
        ({"dedup": ["fuzzy"]}, "unknown deduplicator `fuzzy`"),
        ({"pack": {"sequence_length": 64, "strategy": "tight"}}, "'best_fit', 'wrapped' or 'padded', found 'tight'"),
        ({"engine": {"workers": -1}}, "engine.workers"),
        ({"mixture": {"max_epochs": 0}}, "mixture.max_epochs"),
        ({"surprise": 1}, "unknown key `surprise`"),
    ],
)
def test_impossible_values(least: str, change: dict[str, Any], sentence: str) -> None:
    import yaml

    with pytest.raises(RecipeError) as caught:
        gm.Recipe.from_dict({**yaml.safe_load(least), **change})
    assert sentence in str(caught.value)


@pytest.mark.parametrize("text", ["", "just a sentence", "- a list", "a: [unclosed"])
def test_what_is_no_recipe(text: str) -> None:
    with pytest.raises(RecipeError, match="expected"):
        gm.Recipe.from_text(text)


def test_on_is_a_key(least: str) -> None:
    """YAML 1.1 takes `on` for true, and `exact` has a parameter of that name."""
    recipe = gm.Recipe.from_text(least + "dedup: [exact: {on: url}]")
    assert recipe.dedup[0].parameters == {"on": "url"}


def test_no_code_is_run() -> None:
    with pytest.raises(RecipeError, match="syntax error"):
        gm.Recipe.from_text("sources: !!python/object/apply:os.system ['true']")


def test_a_missing_file() -> None:
    with pytest.raises(RecipeError, match=r"found nothing: nowhere\.yaml"):
        gm.Recipe.from_yaml("nowhere.yaml")


def test_plain_data_makes_the_same_recipe_again(least: str) -> None:
    recipe = gm.Recipe.from_text(least)
    assert gm.Recipe.from_dict(recipe.to_dict()) == recipe


def test_objects_make_the_same_recipe(least: str) -> None:
    from gristmill.recipe import Output, Pack, Source, Tokenizer

    recipe = gm.Recipe.from_text(least)
    made = gm.Recipe(
        sources=(Source(name="web", path=recipe.sources[0].path),),
        tokenizer=Tokenizer(hub="org/name"),
        pack=Pack(sequence_length=64),
        output=Output(path="out"),
    )
    assert made == recipe


def test_recipes_that_ship_are_commented() -> None:
    assert {"demo", "simple"} <= set(names())
    assert all("#" in read_text(name) for name in names())
    with pytest.raises(RecipeError, match="Did you mean `simple`"):
        read_text("simpel")


def test_quantities() -> None:
    assert [parse_count(text) for text in ("10B", "1.5M", "2_048", "3k", "1e9", 7)] == [
        10**10, 1_500_000, 2048, 3000, 10**9, 7]  # fmt: skip
    assert [parse_bytes(text) for text in ("4GB", "32MiB", "1kb", "12")] == [4 * 10**9, 32 << 20, 1000, 12]
    for wrong in ("ten", "", "-1", "1.5.2", "3X", None, True, []):
        if wrong is not None:
            with pytest.raises(ValueError, match="expected"):
                parse_count(wrong)
    assert [show_bytes(1_234_567), show_count(9_999), show_count(1_234_567), show_seconds(75)] == [
        "1.23 MB", "9,999", "1.23M", "1m15s"]  # fmt: skip

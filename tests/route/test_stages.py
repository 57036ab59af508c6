"""Mixtures in stages: weights of their own, one after the other, no document twice."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from route_inputs import make_recipe
from test_route import run

from gristmill.errors import LedgerError, RecipeError
from gristmill.formats.packed_rows import PackedRows
from gristmill.formats.packed_stages import read_stages
from gristmill.recipe import Recipe

STAGES = [
    {"name": "first", "tokens": 6000, "weights": {"one": 0.9, "two": 0.1}},
    {"name": "second", "tokens": 3000, "weights": {"one": 0.25, "two": 0.75}},
]


def staged(folder: Path, **mixture: Any) -> dict[str, Any]:
    recipe = make_recipe(folder, mixture={"seed": 3, "stages": STAGES, **mixture})
    for source in recipe["sources"]:
        del source["weight"]
    return recipe


def drawn(pack: Path) -> set[tuple[int, int]]:
    """The documents of which a token lies in the rows of a pack, as (source, ordinal)."""
    packed = PackedRows.open(pack)
    parts = [packed.segments(row) for row in range(len(packed))]
    return {(int(s), int(d)) for part in parts for s, d in zip(part.source, part.document, strict=True)}


def test_each_stage_has_its_shares_and_no_document_of_another(tmp_path: Path) -> None:
    result, _ = run(staged(tmp_path))
    pack = result.path / "pack"
    assert read_stages(pack) == ["first", "second"]
    assert not drawn(pack / "first") & drawn(pack / "second")
    with open(result.path / "mixture.csv") as file:
        rows = list(csv.DictReader(file))
    assert [(row["stage"], row["source"]) for row in rows] == [
        ("first", "one"), ("first", "two"), ("second", "one"), ("second", "two")
    ]  # fmt: skip
    for row, asked in zip(rows, (0.9, 0.1, 0.25, 0.75), strict=True):
        assert float(row["requested_share"]) == asked
        assert float(row["achieved_share"]) == pytest.approx(asked, abs=0.03)
    tokens = {stage: PackedRows.open(pack / stage).manifest.tokens for stage in ("first", "second")}
    assert sum(entry.left for entry in result.ledger.of("pack")) == sum(tokens.values())
    assert sum(entry.left for entry in result.ledger.of("mix")) == sum(int(row["tokens"]) for row in rows)


def test_what_a_stage_took_the_next_one_lacks(tmp_path: Path) -> None:
    first, second = ({"name": name, "tokens": 10**6, "weights": {"one": 1}} for name in ("first", "second"))
    with pytest.raises(LedgerError, match="room for none"):
        run(staged(tmp_path, stages=[first, second], max_epochs=1))
    half = {**first, "tokens": 10**4}
    result, _ = run(staged(tmp_path, stages=[half, second]))
    assert not drawn(result.path / "pack" / "first") & drawn(result.path / "pack" / "second")
    result, _ = run(staged(tmp_path, stages=[half, {**second, "reuse_documents": True}], max_epochs=2))
    assert drawn(result.path / "pack" / "first") < drawn(result.path / "pack" / "second")
    [one, two] = result.ledger.of("mix")
    assert one.left == 2 * one.entered == one.entered - sum(one.gone.values())
    assert two.left == 0


def test_a_changed_weight_of_the_second_stage_leaves_the_first(tmp_path: Path) -> None:
    run(staged(tmp_path))
    changed = [STAGES[0], {**STAGES[1], "weights": {"one": 0.5, "two": 0.5}}]
    _, watcher = run(staged(tmp_path, stages=changed))
    assert set(watcher.ran) == {"mix/second", "pack/second"}


def test_steps_of_training_are_a_budget(tmp_path: Path) -> None:
    stages = [{"name": "warm", "steps": 10, "weights": {"one": 1}}]
    recipe = Recipe.from_dict(staged(tmp_path, stages=stages, rows_per_step=4))
    assert recipe.stage_tokens(recipe.mixture.stages[0]) == 10 * 4 * 128
    with pytest.raises(RecipeError) as mistakes:
        Recipe.from_dict(staged(tmp_path, stages=stages))
    assert "rows_per_step" in str(mistakes.value)


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ([{"name": "a", "tokens": 1, "weights": {"three": 1}}], "Known: one, two"),
        ([{"name": "a", "tokens": 1, "weights": {"one": 0}}], "at least one weight above 0"),
        ([{"name": "a", "weights": {"one": 1}}], "either `tokens` or `steps`"),
        ([STAGES[0], STAGES[0]], "`first` 2 times"),
    ],
)
def test_mistakes_in_stages(tmp_path: Path, stages: list[dict[str, Any]], expected: str) -> None:
    with pytest.raises(RecipeError) as mistakes:
        Recipe.from_dict(staged(tmp_path, stages=stages))
    assert expected in str(mistakes.value)


def test_a_source_may_have_judges_of_its_own(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path)
    recipe["sources"][1]["filters"] = []
    result, _ = run(recipe)
    [one, two] = result.ledger.of("sift")
    assert one.gone["length.min_characters"] > 0
    assert two.gone == {}

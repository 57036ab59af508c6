"""Surviving texts on request, as other tools read them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from route_inputs import make_recipe
from test_route import expected_documents, run

from gristmill.errors import RecipeError


def test_surviving_texts_lie_by_dataset_and_config(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path, output={"path": str(tmp_path / "out"), "chunk": "16kB", "texts": True})
    one, two = recipe["sources"]
    recipe["sources"] = [
        {"name": "one", "dataset": "org/set", "local": one["path"], "id_column": "name", "weight": 0.7},
        {"name": "two", "dataset": "org/set", "config": "small", "local": two["path"], "weight": 0.3},
    ]
    result, _ = run(recipe)
    found, ids = [], []
    for config, source in (("default", 0.7), ("small", 0.3)):
        files = sorted((result.path / "org_set" / config).glob("*.jsonl.gz"))
        assert files
        for file in files:
            for line in gzip.decompress(file.read_bytes()).splitlines():
                row = json.loads(line)
                assert list(row) == ["text", "id", "metadata"]
                assert row["metadata"] == {"source": "org/set", "config": config, "weight": source}
                found.append(row["text"])
                ids.append(row["id"])
    assert sorted(found) == sorted(expected_documents())
    assert {id_.partition("-")[0] for id_ in ids if "/" not in id_} == {"one"}
    assert {id_.partition("/")[0] for id_ in ids if "/" in id_} == {"two"}


def test_a_name_that_a_stage_has(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path, output={"texts": True})
    recipe["sources"][0]["name"] = "pack"
    with pytest.raises(RecipeError, match="another name for source `pack`"):
        run(recipe)


def test_without_the_wish_there_are_none(tmp_path: Path) -> None:
    result, _ = run(make_recipe(tmp_path))
    assert not (result.path / "one").exists()

"""A finished run to look at, and copies of it to do damage to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from route_inputs import SHARED_TEXT, make_recipe, make_texts, write_jsonl

import gristmill as gm


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`best_fit`, `wrapped`, `padded` and `stages`: runs over the same texts, with cuts, drops and short documents."""
    folder = tmp_path_factory.mktemp("runs")
    write_jsonl(folder / "raw" / "one.jsonl", make_texts(300, 1))
    with open(folder / "raw" / "one.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text": null, "name": "nothing"}\n')
        for number, own in enumerate(make_texts(2, 9)):
            file.write(json.dumps({"text": f"{own} {SHARED_TEXT}", "name": f"shared-{number}"}) + "\n")
    source = {"name": "one", "path": str(folder / "raw" / "one.jsonl"), "id_column": "name"}
    for name, changes in {
        "best_fit": {},
        "wrapped": {"pack": {"strategy": "wrapped"}},
        "padded": {"pack": {"strategy": "padded"}, "mixture": {"epochs": 2.5}},
        "stages": {
            "mixture": {
                "stages": [
                    {"name": "first", "tokens": 4000, "weights": {"one": 0.5, "two": 0.5}},
                    {"name": "then", "tokens": 3000, "weights": {"one": 0.8, "two": 0.2}},
                ]
            }
        },
    }.items():
        recipe = make_recipe(folder, output={"path": str(folder / name)}, **changes)
        recipe["sources"][0] = {**source, "weight": 0.7, "max_unreadable_ratio": 0.1}
        if name == "stages":
            recipe["sources"] = [{**each, "weight": None} for each in recipe["sources"]]
        recipe["tokenizer"]["min_tokens"] = 30
        recipe["dedup"] = ["exact", {"substrings": {"min_bytes": 60}}]
        gm.run(recipe)
    return folder


@pytest.fixture
def copy_of(runs: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A copy of a run, to be damaged."""

    def copy(name: str) -> Path:
        shutil.copytree(runs / name, tmp_path / name)
        return tmp_path / name

    return copy

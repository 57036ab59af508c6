from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cluster_runs import MakeRecipe, digests

import gristmill as gm
from gristmill.errors import TaskError


def test_the_same_bytes_on_ray(
    tmp_path: Path, make_recipe: MakeRecipe, ray_of_two: dict[str, Any], on_one_machine: dict[str, str]
) -> None:
    result = gm.run(make_recipe(tmp_path / "out", **ray_of_two))
    assert digests(result.path) == on_one_machine


def test_a_task_that_fails_on_ray_is_told(tmp_path: Path, make_recipe: MakeRecipe, ray_of_two: dict[str, Any]) -> None:
    recipe = make_recipe(tmp_path / "out", **ray_of_two)
    recipe["filters"] = [{"length": {"min_characters": 1_000_000}}]
    with pytest.raises(TaskError, match=r"ray job .*expected some documents to remain"):
        gm.run(recipe)

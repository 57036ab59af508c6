from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cluster_runs import MakeRecipe, digests
from typer.testing import CliRunner

import gristmill as gm
from gristmill.cli.app import app
from gristmill.drive import Silent
from gristmill.engine.lease import FILE as LEASE
from gristmill.errors import ResumeError, TaskError

pytest.importorskip("s3fs")


def put(folder: Path, address: str) -> None:
    import s3fs

    s3fs.S3FileSystem().put(f"{folder}/", address, recursive=True)


def fetched(address: str, folder: Path) -> dict[str, str]:
    """What the stages' folders at an address hold."""
    import s3fs

    s3fs.S3FileSystem(use_listings_cache=False).get(f"{address}/", str(folder), recursive=True)
    return digests(folder)


class StopAt(Silent):
    def __init__(self, stage: str) -> None:
        super().__init__()
        object.__setattr__(self, "stage", stage)

    def started(self, jobs: Any, tasks_done: int) -> None:
        if jobs[0].step.name.startswith(self.stage):  # type: ignore[attr-defined]
            raise KeyboardInterrupt


def test_input_and_output_at_a_store_that_fails_now_and_then(
    tmp_path: Path, corpus: Path, make_recipe: MakeRecipe, s3: Any, on_one_machine: dict[str, str]
) -> None:
    put(corpus, "mill/raw")
    s3.every = 11
    recipe = make_recipe("s3://mill/out", "s3://mill/raw", workers=2)
    with pytest.raises(KeyboardInterrupt):
        gm.run(recipe, StopAt("tokenize"))
    recipe["engine"]["scratch"] = str(tmp_path / "another machine")  # that has seen nothing of it
    result = gm.run(recipe)
    assert s3.given > 50
    s3.every = 0
    assert fetched("s3://mill/out", tmp_path / "fetched") == on_one_machine
    assert not (tmp_path / "fetched" / LEASE).exists()
    assert result.ledger.left("web-en", "tokens") > 0

    packed = [batch["input_ids"] for batch in gm.load("s3://mill/out", batch_size=16, framework="numpy")]
    there = [batch["input_ids"] for batch in gm.load(tmp_path / "fetched", batch_size=16, framework="numpy")]
    assert all(np.array_equal(one, other) for one, other in zip(packed, there, strict=True))

    for command, expected in (
        (["report", "s3://mill/out"], "The ledger balances."),
        (["inspect", "s3://mill/out"], "Row 0 of"),
        (["inspect", "s3://mill/out", "--duplicates"], "Pair 0, exact"),
        (["verify", "s3://mill/out"], "well"),
    ):
        ended = CliRunner().invoke(app, command)
        assert ended.exit_code == 0, (command, ended.output, ended.exception)
        assert expected in ended.output


def test_slurm_with_input_and_output_at_a_store_that_fails_now_and_then(
    tmp_path: Path,
    corpus: Path,
    make_recipe: MakeRecipe,
    s3: Any,
    slurm: dict[str, Any],
    on_one_machine: dict[str, str],
) -> None:
    put(corpus, "mill/raw")
    s3.every = 11
    logs = {"logging_dir": str(tmp_path / "logs")}
    gm.run(make_recipe("s3://mill/out", "s3://mill/raw", **slurm, **logs))
    s3.every = 0
    assert fetched("s3://mill/out", tmp_path / "fetched") == on_one_machine


def test_two_runs_on_one_address_are_refused(make_recipe: MakeRecipe, s3: Any, tmp_path: Path) -> None:
    recipe = make_recipe("s3://mill/out")

    class Second(Silent):
        def started(self, jobs: Any, tasks_done: int) -> None:
            other = {**recipe, "engine": {"workers": 0, "scratch": str(tmp_path / "other")}}
            with pytest.raises(ResumeError, match="another run at work in it: s3://mill/out"):
                gm.run(other)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gm.run(recipe, Second())


def test_a_store_that_does_not_answer_is_named(
    make_recipe: MakeRecipe, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gristmill.places.addresses.TRIES", 2)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # botocore asks again, too, and s3fs five times
    s3.every = 1
    with pytest.raises(TaskError, match=r"s3://mill/out.*asked 2 times"):
        gm.run(make_recipe("s3://mill/out"))

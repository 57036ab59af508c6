"""SmolLM3's recipes over a small mirror of all their datasets: every source, its config, its share; kill and resume."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from smollm3_mirror import recipe_of, write_mirror, write_tokenizer

import gristmill as gm
from gristmill import recipe_changes as changes
from gristmill.formats.packed_rows import PackedRows
from gristmill.recipe import Recipe
from gristmill.recipes import read_text

TOKENS = 1_200_000  # of stage 1; of stage 2 an eighth, of which half a document of 140 tokens is 0.05 percentage points


@pytest.fixture(scope="session")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough of every source for what all stages together take of it."""
    root = tmp_path_factory.mktemp("mirror")
    recipe = recipe_of("smollm3")
    needed = dict.fromkeys((source["name"] for source in recipe["sources"]), 0.0)
    for stage, scale in zip(recipe["mixture"]["stages"], (1.0, 1 / 8, 2 / 8), strict=True):
        total = sum(stage["weights"].values())
        for name, weight in stage["weights"].items():
            needed[name] += 1.5 * weight / total * scale * TOKENS  # some go by filters
    write_mirror(root, recipe, {name: int(tokens) for name, tokens in needed.items()})
    write_tokenizer(root / "tokenizer.json")
    return root


def changed(mirror: Path, output: Path, **options: Any) -> list[Any]:
    return [
        partial(changes.on_local_root, root=mirror),
        partial(changes.replaced, key="tokenizer", value={"path": str(mirror / "tokenizer.json")}),
        partial(changes.with_parts, changes={"output": {"path": str(output)}, "engine": {"workers": 2}}),
        partial(changes.scaled, factor=TOKENS / 8e12),
        *options.values(),
    ]


def shares(output: Path) -> list[dict[str, str]]:
    with open(output / "mixture.csv") as file:
        return list(csv.DictReader(file))


def test_stage_1_has_its_41_datasets_in_its_proportions(mirror: Path, tmp_path: Path) -> None:
    recipe = Recipe.from_text(read_text("smollm3-stage1"), "stage1", *changed(mirror, tmp_path / "out"))
    assert len(recipe.sources) == 41
    gm.run(recipe)
    rows = shares(tmp_path / "out")
    assert [row["source"] for row in rows] == [source["name"] for source in recipe_of("smollm3-stage1")["sources"]]
    weights = {source.name: source.weight or 0.0 for source in recipe.sources}
    for row in rows:
        asked = weights[row["source"]] / sum(weights.values())
        assert float(row["requested_share"]) == pytest.approx(asked)
        assert abs(float(row["achieved_share"]) - asked) < 0.001, row["source"]
    ledger = json.loads((tmp_path / "out" / "ledger.json").read_text())
    read = {entry["source"]: entry for entry in ledger["entries"] if entry["stage"] == "sift"}
    assert len(read) == 41 and all(entry["left"] > 0 for entry in read.values())


def test_a_source_that_is_too_small_follows_the_policy(mirror: Path, tmp_path: Path) -> None:
    some = partial(changes.only_sources, names=["dclm", "wiki"])
    weights = partial(
        changes.with_parts, changes={"mixture": {"tokens": 40_000, "max_epochs": 1, "when_exhausted": "redistribute"}}
    )

    def even(recipe: dict[str, Any]) -> dict[str, Any]:
        return {**recipe, "sources": [{**source, "weight": 0.5} for source in recipe["sources"]]}

    recipe = Recipe.from_text(
        read_text("smollm3-stage1"), "x", *changed(mirror, tmp_path / "out", a=some, b=weights, c=even)
    )
    gm.run(recipe)
    wiki, dclm = sorted(shares(tmp_path / "out"), key=lambda row: int(row["tokens"]))
    assert (wiki["source"], wiki["tokens"], wiki["unused_tokens"]) == ("wiki", wiki["available_tokens"], "0")
    assert float(wiki["requested_share"]) == 0.5 > float(wiki["achieved_share"])
    assert int(wiki["tokens"]) + int(dclm["tokens"]) == pytest.approx(40_000, abs=200)


def test_three_stages_in_sequence_draw_no_document_twice(mirror: Path, tmp_path: Path) -> None:
    recipe = Recipe.from_text(read_text("smollm3"), "smollm3", *changed(mirror, tmp_path / "out"))
    gm.run(recipe)
    seen: set[tuple[str, int]] = set()
    for stage in recipe.mixture.stages:
        packed = PackedRows.open(tmp_path / "out" / "pack" / stage.name)
        names = packed.manifest.layout.sources
        parts = [packed.segments(row) for row in range(len(packed))]
        drawn = {(names[s], int(d)) for part in parts for s, d in zip(part.source, part.document, strict=True)}
        assert not drawn & seen
        seen |= drawn
        total = sum(stage.weights.values())
        for row in shares(tmp_path / "out"):
            if row["stage"] == stage.name:
                asked = stage.weights.get(row["source"], 0.0) / total
                assert abs(float(row["achieved_share"]) - asked) < 0.001, (stage.name, row)


def test_killed_in_the_middle_nothing_finished_is_done_again(mirror: Path, tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "gristmill", "run", "smollm3-stage1", "--output", str(tmp_path / "out"),
        "--local-root", str(mirror), "--tokenizer", str(mirror / "tokenizer.json"), "--scale", str(TOKENS / 8e12),
        "--max-datasets", "5", "--workers", "1", "--logging-dir", str(tmp_path / "log"), "--dedup", "exact",
    ]  # fmt: skip
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    records = tmp_path / "out" / "sift"
    deadline = time.monotonic() + 120
    while len(list(records.glob("*/*.json"))) < 2 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = {path: path.read_bytes() for path in records.glob("*/*.json")}
    assert len(finished) >= 2 and not (tmp_path / "out" / "ledger.json").exists()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for path, record in finished.items():
        assert path.read_bytes() == record, "a finished task ran again"
    assert len(shares(tmp_path / "out")) == 5

"""What a run does with documents that are too long for it, and with links out of its input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from route_inputs import make_recipe, make_texts, write_jsonl

import gristmill as gm
from gristmill.drive import Silent


def run(recipe: dict[str, Any]) -> tuple[gm.Result, list[str]]:
    watcher = Silent()
    return gm.run(recipe, watcher), watcher.notices


def test_a_document_that_is_too_long_is_counted_and_the_others_are_kept(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw" / "one.jsonl", [*make_texts(100, 1), "mill " * 4000, *make_texts(100, 7)])
    recipe = make_recipe(tmp_path)
    recipe["sources"][0]["max_document"] = "16kB"
    result, _ = run(recipe)
    [one, _] = result.ledger.of("sift")
    assert one.entered == 201
    assert one.gone["skipped.too_long"] == 1
    recipe["sources"][0]["max_document"] = "32kB"
    result, _ = run(recipe)
    assert "skipped.too_long" not in result.ledger.of("sift")[0].gone


def test_a_document_for_which_memory_is_short_is_told(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw" / "one.jsonl", [*make_texts(100, 1), "grain " * 2_000_000])
    recipe = make_recipe(tmp_path, engine={"memory": "600MB"}, dedup=[])
    _, notices = run(recipe)
    [notice] = [notice for notice in notices if "max_document" in notice]
    assert "source one has a document of 12 MB" in notice and "`max_document: 8MB`" in notice
    recipe["sources"][0]["max_document"] = "8MB"
    recipe["output"]["path"] = str(tmp_path / "other")
    result, notices = run(recipe)
    assert not [notice for notice in notices if "max_document" in notice]
    assert result.ledger.of("sift")[0].gone["skipped.too_long"] == 1


def test_links_out_of_the_input_are_told(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path)
    (tmp_path / "secret.jsonl").write_text('{"text": "what nobody should read, but a link points to it"}\n')
    folder = tmp_path / "folder"
    write_jsonl(folder / "a.jsonl", make_texts(100, 3))
    (folder / "b.jsonl").symlink_to(tmp_path / "secret.jsonl")
    recipe["sources"][0]["path"] = str(folder)
    result, notices = run(recipe)
    assert result.ledger.of("sift")[0].entered == 100
    [notice] = notices
    assert "source one: 1 symbolic links lead out of" in notice and str(folder / "b.jsonl") in notice

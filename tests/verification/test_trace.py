"""A document's story is told from its raw line to its rows, whatever became of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from route_inputs import SHARED_TEXT
from tokenizers import Tokenizer
from typer.testing import CliRunner

from gristmill.cli import app
from gristmill.errors import RecipeError
from gristmill.formats.packed_rows import PackedRows
from gristmill.verification.trace import stories_of


def story(runs: Path, wanted: str, name: str = "best_fit") -> dict[str, Any]:
    [found] = stories_of(runs / name, wanted)
    return found


def raw_line(told: dict[str, Any]) -> dict[str, Any]:
    with open(told["raw"]["file"], "rb") as file:
        file.seek(told["raw"]["byte"])
        line: dict[str, Any] = json.loads(file.readline())
    return line


@pytest.mark.parametrize("name", ["best_fit", "wrapped", "padded", "stages"])
def test_a_kept_document_from_its_raw_line_to_its_rows(runs: Path, name: str) -> None:
    told = next(
        told for number in range(20) if "packed into" in (told := story(runs, f"one-{number}", name))["end"]
    )  # fmt: skip
    line = raw_line(told)
    assert line["name"] == told["id"]
    assert told["cleaned"][-1]["bytes_after"] == len(line["text"].strip().encode())
    assert all(rule["kept"] for rule in told["rules"]) and told["verdict"] is None
    tokenizer = Tokenizer.from_file(str(next((runs / name).glob("pack/**/tokenizer.json"))))
    assert sum(part["tokens"] for part in told["packed"]) <= (
        sum(stage["times"] for stage in told["draws"]) * told["tokens"]["tokens"]
    )
    for part in told["packed"]:
        packed = PackedRows.open(Path(part["file"]).parent)
        begin, end = part["columns"]
        text = tokenizer.decode(packed.ids(part["row_of_all"])[begin:end].tolist())
        assert text.strip() and text in line["text"]


def test_a_duplicate_names_its_survivor_and_the_survivor_counts_it(runs: Path) -> None:
    told = story(runs, "one-29")  # a copy of the one five before
    assert told["end"] == "dropped: exact"
    assert told["dedup"][0]["survivor"]["id"] == "one-24"
    survivor = story(runs, told["dedup"][0]["survivor"]["id"])
    assert survivor["duplicates"] == 1
    assert raw_line(told)["text"].strip() == raw_line(survivor)["text"].strip()


def test_a_dropped_document_shows_the_rule_that_it_breaks(runs: Path) -> None:
    told = story(runs, "one-44")  # "short"
    assert told["end"] == "dropped: length.min_characters"
    [broken] = [rule for rule in told["rules"] if not rule["kept"]]
    assert (broken["value"], broken["minimum"]) == (5, 20)
    assert "tokens" not in told


def test_an_unreadable_row_by_its_place(runs: Path) -> None:
    path = runs / "raw" / "one.jsonl"
    position = path.read_bytes().index(b'{"text": null')
    told = story(runs, f"{path}:{position}")
    assert told == story(runs, f"one.jsonl:{position:,}")
    assert (told["id"], told["end"]) == (None, "dropped: unreadable.null_text")
    assert story(runs, f"one/{told['chunk']}/{told['row']}") == told


def test_a_document_too_short_for_its_tokens(runs: Path) -> None:
    ends = {story(runs, f"one-{number}")["end"] for number in range(30)}
    assert "dropped: tokenizer.min_tokens" in ends


def test_cuts_are_told(runs: Path) -> None:
    told = story(runs, "shared-1")
    [step] = told["dedup"]
    assert step["cut"] == "substrings"
    [[start, stop]] = step["byte_spans"]
    gone = raw_line(told)["text"].strip()[start:stop]
    assert len(gone) >= 60 and gone in SHARED_TEXT


def test_a_raw_file_that_was_changed_or_went(runs: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(runs, tmp_path / "runs")
    output = tmp_path / "runs" / "best_fit"
    raw = runs / "raw" / "one.jsonl"
    before = raw.stat()
    raw.touch()
    assert story(tmp_path / "runs", "one-0")["cleaned"] == "its raw file was changed since"
    import os

    os.utime(raw, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert isinstance(stories_of(output, "one-0")[0]["cleaned"], list)


def test_nobody_of_that_name_but_near_ones(runs: Path) -> None:
    with pytest.raises(RecipeError, match=r"found `one-1234`.*none of 503 rows.*\n.*Near it: one-123"):
        stories_of(runs / "best_fit", "one-1234")


def test_the_command_prints_it_for_people_and_for_programs(runs: Path) -> None:
    shown = CliRunner().invoke(app, ["verify", str(runs / "best_fit"), "--trace", "one-44"])
    assert shown.exit_code == 0
    assert "BROKEN" in shown.output and "dropped: length.min_characters" in shown.output
    plain = CliRunner().invoke(app, ["verify", str(runs / "best_fit"), "--trace", "one-44", "--json"])
    assert json.loads(plain.output) == stories_of(runs / "best_fit", "one-44")

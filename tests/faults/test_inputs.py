"""Input that changes, vanishes or is cut short while a run is at work, clocks that jump, and names nobody expects."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_trials import Interruption, Trial

import gristmill as gm
from gristmill import sources
from gristmill.errors import SourceError

FILES = {"jsonl": "web-en.jsonl", "gz": "web-vi.jsonl.gz", "parquet": "encyclopedia.parquet"}
NAMES = ["with spaces", "two\nlines", "-rf", "~", "'quoted' \"twice\"", "mühle 粉", "%s{0}$HOME"]
CHANGES: dict[str, Callable[[Path], object]] = {
    "longer": lambda file: file.write_bytes(file.read_bytes() + b'{"text": "one more"}\n'),
    "cut short": lambda file: os.truncate(file, file.stat().st_size // 2),
    "replaced": lambda file: file.write_bytes(bytes(reversed(file.read_bytes()))),
    "gone": lambda file: file.unlink(),
}


@pytest.mark.parametrize("change", list(CHANGES))
@pytest.mark.parametrize("kind", list(FILES))
def test_an_input_file_changes_between_plan_and_read(trial: Trial, kind: str, change: str) -> None:
    trial.with_own_input()
    file = trial.raw / FILES[kind]
    with pytest.raises(SourceError, match=file.name.replace(".", r"\.")):
        gm.run(trial.recipe(), Interruption("sift/web-en", lambda: CHANGES[change](file)))
    _restore(trial, file)
    trial.ends_like_the_twin(f"an input file is {change} between plan and read")


@pytest.mark.parametrize("kind", ["jsonl", "gz"])
def test_an_input_file_is_cut_short_while_it_is_read(trial: Trial, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trial.with_own_input()
    file = trial.raw / FILES[kind]
    read = sources.read

    def cut_short(chunk: Any, columns: Any) -> Iterator[Any]:
        for batch in read(chunk, columns):
            yield batch
            if any(piece.path == str(file) for piece in chunk.pieces):
                os.truncate(file, file.stat().st_size // 2)

    with monkeypatch.context() as patch:
        patch.setattr(sources, "read", cut_short)
        with pytest.raises(SourceError, match=rf"found it changed meanwhile: .*{file.name}"):
            gm.run(trial.recipe())
    _restore(trial, file)
    trial.ends_like_the_twin("an input file is cut short while it is read")


def test_a_changed_input_is_read_again_and_nothing_else(trial: Trial) -> None:
    trial.with_own_input()
    gm.run(trial.recipe())
    file = trial.raw / "notes.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]) + json.dumps({"text": "another text " * 20}) + "\n")
    ran: list[str] = []

    class Watcher(Interruption):
        def finished(self, job: Any, record: Any) -> None:
            ran.append(job.step.name)

    gm.run(trial.recipe(), Watcher("", lambda: None))
    assert {step for step in ran if step.startswith("sift/")} == {"sift/notes"}
    _restore(trial, file)
    trial.ends_like_the_twin("an input file changes between runs")


@pytest.mark.parametrize("seconds", [-10 * 365 * 86_400, 10 * 365 * 86_400])
def test_the_clock_jumps(trial: Trial, seconds: int) -> None:
    """All that is there seems to be of another decade: nothing is made again for that."""
    trial.finish()
    moment = time.time() + seconds
    for file in trial.output.rglob("*"):
        os.utime(file, (moment, moment))
    ran: list[str] = []

    class Watcher(Interruption):
        def finished(self, job: Any, record: Any) -> None:
            ran.append(job.step.name)

    gm.run(trial.recipe(), Watcher("", lambda: None))
    assert ran == []
    trial.ends_like_the_twin("the clock jumps")


def test_records_from_the_future(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    from gristmill.engine import record as records

    with monkeypatch.context() as patch:
        patch.setattr(records, "now", lambda: "2099-01-01T00:00:00.000+00:00")
        gm.run(trial.recipe())
    assert "2099" in (trial.output / "run.json").read_text()
    trial.ends_like_the_twin("the clock jumps: records from the future")


def test_an_input_of_another_time_is_read_again_and_changes_nothing(trial: Trial) -> None:
    trial.finish()
    trial.with_own_input()
    for file in trial.raw.iterdir():
        os.utime(file, (0, 0))
    trial.ends_like_the_twin("the clock jumps: input of 1970")


@pytest.mark.parametrize("name", NAMES)
def test_names_with_anything_in_them(trial: Trial, name: str) -> None:
    trial.with_own_input()
    folder = trial.output.parent / f"{name} in"
    folder.mkdir()
    for file in trial.raw.iterdir():
        shutil.copy2(file, folder / f"{name}.{file.name}")
    trial.output = trial.output.parent / f"{name} out"
    recipe = trial.recipe
    own = {source["path"]: folder / f"{name}.{Path(source['path']).name}" for source in recipe()["sources"]}

    def renamed(workers: int = 0) -> dict[str, Any]:
        made = recipe(workers)
        for source in made["sources"]:
            source["path"] = str(own[source["path"]])
        return made

    trial.recipe = renamed  # type: ignore[method-assign]
    trial.ends_like_the_twin("names with spaces, newlines and signs")


def _restore(trial: Trial, file: Path) -> None:
    shutil.copy2(trial.twin.raw / file.name, file)

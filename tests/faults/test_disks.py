"""A disk that fills up, one that becomes read-only while a run is at work, and files that are not ours to touch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_trials import ROUNDS, Interruption, Trial, mounted

import gristmill as gm
from gristmill.errors import GristmillError, SourceError, TaskError

FIRST_STEPS = {"judge": "judge/web-en", "dedup": "dedup/minhash.sorted", "tokenize": "tokenize/web-en"}
pytestmark = pytest.mark.skipif(os.name == "nt", reason="mounts and permissions of Unix")


@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_a_full_disk_at_any_stage(trial: Trial, share: float, turn: int) -> None:
    needed = sum(file.stat().st_size // 4096 * 4096 + 4096 for file in trial.twin.output.rglob("*") if file.is_file())
    room = int(needed * (share - turn * 0.01))
    with mounted(trial.output, room) as remount:
        with pytest.raises(TaskError, match=r"No space left on device(.|\n)*run the same command again"):
            gm.run(trial.recipe())
        assert not list(trial.output.rglob("*.tmp-*"))
        remount("size=1g")
        trial.ends_like_the_twin("a full disk")


@pytest.mark.parametrize("stage", ["judge", "dedup", "tokenize", "mix", "pack"])
def test_a_disk_becomes_read_only_in_the_middle(trial: Trial, stage: str) -> None:
    """The stage's folder is a disk of its own: the run's lock keeps a file open on that of the output."""
    with mounted(trial.output / stage, 1 << 30) as remount:
        watcher = Interruption(FIRST_STEPS.get(stage, stage), lambda: remount("ro"))
        with pytest.raises(TaskError, match=r"Read-only file system(.|\n)*run the same command again"):
            gm.run(trial.recipe(), watcher)
        remount("rw")
        trial.ends_like_the_twin("a disk that becomes read-only")


@pytest.fixture
def readable_folder() -> Iterator[Path]:
    """A folder that any user may look into, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def nobody() -> Iterator[None]:
    """Be somebody whom permissions hold for."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_an_input_that_may_not_be_read(trial: Trial, readable_folder: Path, nobody: None) -> None:
    secret = readable_folder / "secret.jsonl"
    as_root = os.geteuid() != os.getuid()
    if as_root:
        os.seteuid(0)
    secret.write_text('{"text": "closed"}\n')
    secret.chmod(0)
    output = readable_folder / "out"
    output.mkdir(mode=0o777)
    output.chmod(0o777)
    if as_root:
        os.seteuid(65534)
    recipe = {**trial.recipe(), "output": {"path": str(output)}}
    recipe["sources"] = [{"name": "secret", "path": str(secret)}]
    with pytest.raises(SourceError, match=r"Permission denied.*secret\.jsonl"):
        gm.run(recipe)


def test_an_output_that_may_not_be_written(trial: Trial, readable_folder: Path, nobody: None) -> None:
    recipe = {**trial.recipe(), "output": {"path": str(readable_folder / "out")}}
    as_root = os.geteuid() != os.getuid()
    if as_root:
        os.seteuid(0)
    readable_folder.chmod(0o555)
    raw = readable_folder.parent / f"{readable_folder.name}.jsonl"
    raw.write_text('{"text": "open"}\n')
    raw.chmod(0o644)
    if as_root:
        os.seteuid(65534)
    recipe["sources"] = [{"name": "open", "path": str(raw)}]
    try:
        with pytest.raises(GristmillError, match=r"output folder that can be written, found: Permission denied"):
            gm.run(recipe)
    finally:
        if as_root:
            os.seteuid(0)
        raw.unlink()
        readable_folder.chmod(0o755)


def test_a_file_of_the_output_that_may_not_be_replaced(trial: Trial) -> None:
    """What stands in the way of a file is a folder: as for permissions, the file system refuses."""
    (trial.output / "pack" / "00000.arrow").mkdir(parents=True)
    with pytest.raises(TaskError, match=r"pack: task 00000"):
        gm.run(trial.recipe())
    (trial.output / "pack" / "00000.arrow").rmdir()
    trial.ends_like_the_twin("a file that may not be written")

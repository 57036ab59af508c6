from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from gristmill.engine import lease
from gristmill.engine.lease import FILE, Lease
from gristmill.errors import ResumeError
from gristmill.places.place import Place


def lease_on(folder: Path, there: list[str] | None = None) -> Lease:
    def still_there(jobs: Sequence[str]) -> list[str] | None:
        return there

    return Lease(Place(folder), still_there)


def test_a_second_holder_is_refused_and_the_first_leaves_nothing(tmp_path: Path) -> None:
    with lease_on(tmp_path).held():
        with (
            pytest.raises(ResumeError, match=r"another run at work in it.*\n.*of this machine"),
            lease_on(tmp_path).held(),
        ):
            pass
        assert (tmp_path / FILE).exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("found", "there", "why"),
    [
        ({"host": "elsewhere", "process": 1, "beat": 0}, [], None),
        ({"host": "elsewhere", "process": 1, "beat": 1e12}, [], "process 1 of elsewhere"),
        ({"host": "elsewhere", "process": 1, "beat": 0, "jobs": ["7", "8"]}, ["8"], "Slurm has its jobs 8"),
        ({"host": "elsewhere", "process": 1, "beat": 0, "jobs": ["7", "8"]}, [], None),
        ({"host": "elsewhere", "process": 1, "beat": 0, "jobs": ["7"]}, None, "Slurm cannot be asked"),
    ],
)
def test_a_lease_is_taken_over_only_where_its_holder_is_gone(
    tmp_path: Path, found: dict[str, object], there: list[str] | None, why: str | None
) -> None:
    (tmp_path / FILE).write_text(json.dumps(found))
    if why is None:
        with lease_on(tmp_path, there).held():
            pass
        return
    with pytest.raises(ResumeError, match=why), lease_on(tmp_path, there).held():
        pass
    assert json.loads((tmp_path / FILE).read_text()) == found


def test_what_is_handed_over_stays_until_the_jobs_are_gone(tmp_path: Path) -> None:
    mine = lease_on(tmp_path, ["12"])
    with mine.held():
        mine.hand_over(["11", "12"])
    assert json.loads((tmp_path / FILE).read_text())["jobs"] == ["11", "12"]
    with lease_on(tmp_path, []).held():
        pass
    assert not (tmp_path / FILE).exists()


def test_a_holder_says_that_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEAT_SECONDS", 0.01)
    with lease_on(tmp_path).held():
        first = json.loads((tmp_path / FILE).read_text())["beat"]
        deadline = time.monotonic() + 10
        while json.loads((tmp_path / FILE).read_text())["beat"] == first and time.monotonic() < deadline:
            time.sleep(0.01)
        assert json.loads((tmp_path / FILE).read_text())["beat"] > first

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gristmill.drive import follow
from gristmill.engine import record as records
from gristmill.engine.local import Job, LocalEngine, outstanding
from gristmill.engine.pool import WORKER_BYTES, worker_count
from gristmill.engine.record import Record
from gristmill.engine.step import Step, Task
from gristmill.errors import SourceError, TaskError
from gristmill.places.place import Place


class Watcher:
    def __init__(self) -> None:
        self.ran: list[str] = []
        self.why: list[str] = []
        self.notices: list[str] = []

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        self.why += [job.why for job in jobs]

    def finished(self, job: Job, record: Record) -> None:
        self.ran.append(job.task.name)

    def ended(self) -> None:
        pass

    def notice(self, text: str) -> None:
        self.notices.append(text)


def make_step(function: str, works: list[Any], name: str = "step", literals: Any = None, reads: Any = ()) -> Step:
    tasks = [Task(f"{i:05}", {"work": str(work)}, work) for i, work in enumerate(works)]
    return Step(name, f"engine.engine_tasks:{function}", 1, literals or {}, tasks, reads)


def run(output: Path, step: Step, workers: int = 0) -> tuple[list[Record], Watcher]:
    watcher = Watcher()
    with LocalEngine(output, workers, watcher) as engine:
        return engine.run([step])[0], watcher


@pytest.mark.parametrize("workers", [0, 2])
def test_runs_every_task_once_and_never_again(tmp_path: Path, workers: int) -> None:
    step = make_step("write_text", ["a", "bb", "ccc"])
    found, watcher = run(tmp_path, step, workers)
    assert [record.counts["characters"] for record in found] == [1, 2, 3]
    assert sorted(watcher.ran) == ["00000", "00001", "00002"]
    again, watcher = run(tmp_path, step, workers)
    assert (again, watcher.ran) == (found, [])


def test_a_changed_task_runs_again_alone_and_says_why(tmp_path: Path) -> None:
    run(tmp_path, make_step("write_text", ["a", "b"]))
    _, watcher = run(tmp_path, make_step("write_text", ["a", "changed"]))
    assert (watcher.ran, watcher.why) == (["00001"], ["inputs.work: b -> changed"])


def test_changed_literals_run_all_again(tmp_path: Path) -> None:
    run(tmp_path, make_step("write_text", ["a", "b"], literals={"bound": 1}))
    _, watcher = run(tmp_path, make_step("write_text", ["a", "b"], literals={"bound": 2}))
    assert (len(watcher.ran), set(watcher.why)) == (2, {"bound: 1 -> 2"})


@pytest.mark.parametrize("damage", ["missing", "shorter", "record torn"])
def test_what_is_missing_is_made_again(tmp_path: Path, damage: str) -> None:
    step = make_step("write_text", ["aa", "bb"])
    run(tmp_path, step)
    file = tmp_path / "step" / "00001.txt"
    if damage == "missing":
        file.unlink()
    elif damage == "shorter":
        file.write_bytes(b"b")
    else:
        record = records.path_of(tmp_path / "step", "00001")
        record.write_bytes(record.read_bytes()[:40])
    _, watcher = run(tmp_path, step)
    assert watcher.ran == ["00001"]
    assert file.read_bytes() == b"bb"


def test_a_flipped_bit_is_found_before_others_read_the_file(tmp_path: Path) -> None:
    first = make_step("write_text", ["aa", "bb"])
    run(tmp_path, first)
    (tmp_path / "step" / "00001.txt").write_bytes(b"bc")
    _, watcher = run(tmp_path, make_step("write_text", ["x"], name="next", reads=(first,)))
    assert watcher.ran == ["00001", "00000"]
    assert "damaged" in watcher.notices[0]
    assert "00001.txt" in watcher.notices[0]
    assert (tmp_path / "step" / "00001.txt").read_bytes() == b"bb"


def copying(source: Step, records: list[Record], output: Path) -> Step:
    tasks = [
        Task(task.name, {"from": record.files[0].checksum}, output / source.name / record.files[0].path)
        for task, record in zip(source.tasks, records, strict=True)
    ]
    return Step("copy", "engine.engine_tasks:copy_text", 1, {}, tasks, (source,))


def copied(source: Step, output: Path) -> Generator[list[Step], list[list[Record]], None]:
    """A route of two steps."""
    [records] = yield [source]
    yield [copying(source, records, output)]


def interrupted(source: Step) -> Generator[list[Step], list[list[Record]], None]:
    yield [source]
    raise KeyboardInterrupt


@pytest.mark.parametrize("damage", [b"bc", b"b"])
def test_what_was_made_from_damage_is_made_again(tmp_path: Path, damage: bytes) -> None:
    source = make_step("write_text", ["aa", "bb"])
    with LocalEngine(tmp_path, 0, Watcher()) as engine:
        [records] = engine.run([source])
        (tmp_path / "step" / "00001.txt").write_bytes(damage)  # after it was checked, before it is read
        engine.run([copying(source, records, tmp_path)])
    assert (tmp_path / "copy" / "00001.txt").read_bytes() == damage
    watcher = Watcher()
    with LocalEngine(tmp_path, 0, watcher, check=True) as engine:
        follow(engine, lambda: copied(source, tmp_path))
    assert watcher.ran == ["00001", "00001"]
    assert [(tmp_path / name / "00001.txt").read_bytes() for name in ("step", "copy")] == [b"bb", b"bb"]
    assert not (tmp_path / "damaged.json").exists()


def test_damage_is_not_forgotten_by_a_run_that_ends_early(tmp_path: Path) -> None:
    source = make_step("write_text", ["aa", "bb"])
    copy = copying(source, run(tmp_path, source)[0], tmp_path)
    run(tmp_path, copy)
    (tmp_path / "step" / "00001.txt").write_bytes(b"bc")
    with LocalEngine(tmp_path, 0, Watcher(), check=True) as engine, pytest.raises(KeyboardInterrupt):
        follow(engine, lambda: interrupted(source))
    watcher = Watcher()
    with LocalEngine(tmp_path, 0, watcher) as engine:
        follow(engine, lambda: copied(source, tmp_path))
    assert watcher.ran == ["00001"]
    assert not (tmp_path / "damaged.json").exists()


def test_files_of_tasks_that_are_gone_are_removed(tmp_path: Path) -> None:
    run(tmp_path, make_step("write_text", ["a", "b", "c"]))
    run(tmp_path, make_step("write_text", ["a"]))
    assert sorted(path.name for path in (tmp_path / "step").iterdir()) == ["00000.json", "00000.txt"]


def test_a_crashed_worker_is_tried_again(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    _, watcher = run(tmp_path, make_step("die_twice", [tries]), workers=1)
    assert tries.read_bytes() == b"xxx"
    assert len(watcher.notices) == 2
    assert "trying again" in watcher.notices[0]


def test_a_task_that_dies_for_good_is_named_and_the_others_finish(tmp_path: Path) -> None:
    step = make_step("die_always", ["a", "b", "c"])
    with pytest.raises(TaskError, match=r"step: task 00001 failed: a worker was ended .*memory(.|\n)*2 other tasks"):
        run(tmp_path, step, workers=2)
    assert [job.task.name for job in outstanding(Place(tmp_path), [step])[1]] == ["00001"]


@pytest.mark.skipif(sys.platform != "linux", reason="limits the worker's address space")
def test_a_task_out_of_memory_says_which_and_what_to_lower(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"ran out of memory in task 00000 of step(.|\n)*`output\.chunk`"):
        run(tmp_path, make_step("want_too_much", ["a"]), workers=1)


@pytest.mark.parametrize("workers", [0, 1])
def test_an_error_of_ours_keeps_its_kind_and_words(tmp_path: Path, workers: int) -> None:
    step = make_step("fail_with_advice", ["a", "b", "c"])
    with pytest.raises(SourceError, match=r"expected rows, found none: input\.jsonl"):
        run(tmp_path, step, workers)
    assert [job.task.name for job in outstanding(Place(tmp_path), [step])[1]] == ["00001"]


def test_an_unforeseen_error_comes_with_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"ZeroDivisionError: a mistake of the task(.|\n)*engine_tasks\.py"):
        run(tmp_path, make_step("fail_oddly", ["a"]))


@pytest.mark.parametrize("workers", [0, 1])
def test_no_new_task_is_begun_on_a_full_disk(tmp_path: Path, workers: int) -> None:
    with pytest.raises(TaskError, match="No space left on device: disk") as caught:
        run(tmp_path, make_step("fail_for_lack_of_space", ["a", "b", "c", "d"]), workers)
    assert "more" not in str(caught.value)


def test_workers_are_bounded_by_memory() -> None:
    assert worker_count(0, 1) == 0
    assert worker_count(8, 3 * WORKER_BYTES) == 3
    assert worker_count(2, 100 * WORKER_BYTES) == 2
    assert worker_count("auto", WORKER_BYTES // 2) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    code = f"""
import sys, time; sys.path[:0] = {sys.path!r}
from engine.test_local import *
if __name__ == "__main__":
    watcher = Watcher()
    engine = LocalEngine(Path({str(tmp_path)!r}), 1, watcher)
    engine.run([make_step("write_text", ["a"])])
    print(engine._pool._workers[0].process.pid, flush=True)
    time.sleep(60)
"""
    script = tmp_path / "parent.py"
    script.write_text(code)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 10
    while _is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(worker)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False

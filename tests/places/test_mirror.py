from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from gristmill.errors import RecipeError, ResumeError, TaskError
from gristmill.formats.files import checksum
from gristmill.places import addresses, mirror
from gristmill.places.addresses import retried, write_retried
from gristmill.places.mirror import Mirror, mirror_of
from gristmill.places.opened import opened
from gristmill.places.place import Needed

ADDRESS = "memory://mill/out"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryFileSystem]:
    monkeypatch.setattr(mirror, "_SIZES", {})
    system = MemoryFileSystem()
    yield system
    system.store.clear()


def a_mirror(folder: Path, most_bytes: int = 1_000_000) -> Mirror:
    return mirror_of(ADDRESS, str(folder), most_bytes)


def written(place: Mirror, name: str, content: bytes) -> Needed:
    """A file as a task of this machine leaves it."""
    path = place.local / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    place.push([path], [checksum(path)])
    return Needed(name, len(content), checksum(path), "step/record.json")


def test_what_one_machine_writes_another_fetches_once(tmp_path: Path, store: MemoryFileSystem) -> None:
    here, there = a_mirror(tmp_path / "here"), a_mirror(tmp_path / "there")
    needed = written(here, "step/a.bin", b"grain")
    with there.held([[needed]]):
        assert (there.local / "step/a.bin").read_bytes() == b"grain"
    store.rm_file("mill/out/step/a.bin")
    with there.held([[needed]]):  # it is here already
        assert (there.local / "step/a.bin").read_bytes() == b"grain"


def test_a_file_that_is_not_what_its_record_says_is_an_error_and_its_record_goes(
    tmp_path: Path, store: MemoryFileSystem
) -> None:
    here, there = a_mirror(tmp_path / "here"), a_mirror(tmp_path / "there")
    needed = written(here, "step/a.bin", b"grain")
    here.write_bytes(needed.record, b"{}")
    store.pipe_file("mill/out/step/a.bin", b"grail")
    with pytest.raises(TaskError, match=r"damaged .*: memory://mill/out/step/a.bin"):
        there.fetch([needed])
    assert there.read_bytes(needed.record) is None
    assert not (there.local / "step/a.bin").exists()


def test_what_was_used_longest_ago_goes_but_not_what_is_held(tmp_path: Path, store: MemoryFileSystem) -> None:
    here, there = a_mirror(tmp_path / "here"), a_mirror(tmp_path / "there", most_bytes=250)
    one, two, three = (written(here, f"step/{name}.bin", name.encode() * 100) for name in "abc")
    there.fetch([one])
    there.fetch([two])
    with there.held([[one]]):
        there.fetch([three])
        assert sorted(path.name for path in there.local.rglob("*.bin")) == ["a.bin", "c.bin"]
    there.fetch([two])
    assert len(list(there.local.rglob("*.bin"))) == 2


def test_a_mark_is_made_by_one(tmp_path: Path, store: MemoryFileSystem) -> None:
    here, there = a_mirror(tmp_path / "here"), a_mirror(tmp_path / "there")
    assert here.create("mark", b"here")
    assert not there.create("mark", b"there")
    assert there.read_bytes("mark") == b"here"


def test_a_small_file_is_brought_as_it_is_now(tmp_path: Path, store: MemoryFileSystem) -> None:
    place = a_mirror(tmp_path)
    path = place.local / "ledger.json"
    for content in (b"[1]", b"[2]"):
        store.pipe_file("mill/out/ledger.json", content)
        place.bring(path)
        assert path.read_bytes() == content
    store.rm_file("mill/out/ledger.json")
    place.bring(path)
    assert not path.exists()


def test_records_of_others_are_noticed_and_those_that_went_are_forgotten(
    tmp_path: Path, store: MemoryFileSystem
) -> None:
    place = a_mirror(tmp_path)
    record = place.local / "step/00000.json"
    for content in (b"[1]", b"[2]"):
        store.pipe_file("mill/out/step/00000.json", content)
        place.refresh("step")
        assert record.read_bytes() == content
    store.rm_file("mill/out/step/00000.json")
    place.refresh("step")
    assert not record.exists()
    record.write_bytes(b"[3]")  # a task of this machine is about to push it
    place.refresh("step")
    assert record.exists()


@dataclass(frozen=True)
class Work:
    plan: str
    shards: tuple[tuple[str, ...], ...]
    folder: str


def test_the_files_that_a_work_names_are_found_however_deep(tmp_path: Path) -> None:
    place = a_mirror(tmp_path)
    known = {
        f"{tmp_path}/{name}": [Needed(name, 1, "sum", "record")] for name in ("plan", "shard", "folder/file", "other")
    }
    known[f"{tmp_path}/folder"] = known[f"{tmp_path}/folder/file"]
    work = Work(f"{tmp_path}/plan", ((f"{tmp_path}/shard", "raw.jsonl"),), f"{tmp_path}/folder")
    found = [needed.path for some in place.needs(work, known, {}) for needed in some]
    assert found == ["plan", "shard", "folder/file"]


def test_a_server_is_asked_again_and_then_named(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(addresses.time, "sleep", waits.append)
    tries: list[int] = []

    def fail_thrice() -> str:
        tries.append(1)
        if len(tries) < 4:
            raise OSError("503 SlowDown")
        return "answer"

    assert retried("s3://mill/x", fail_thrice) == "answer"
    assert len(waits) == 3
    assert waits[2] > waits[0]
    with pytest.raises(TaskError, match=r"s3://mill/x: OSError: 503 SlowDown: asked 8 times"):
        retried("s3://mill/x", lambda: tries.clear() or fail_thrice())  # type: ignore[func-returns-value]
    with pytest.raises(FileNotFoundError):
        retried("s3://mill/x", Path("/nowhere").read_bytes)


def test_what_waiting_does_not_mend_is_not_waited_for(tmp_path: Path, store: MemoryFileSystem) -> None:
    def refuse() -> None:
        raise PermissionError("403")

    with pytest.raises(TaskError, match=r"expected leave to read and write, found: 403: s3://mill/x"):
        retried("s3://mill/x", refuse)
    with pytest.raises(TaskError, match=r"expected a place to write to, found: .*no bucket.*: s3://mill/x"):
        write_retried("s3://mill/x", lambda: (_ for _ in ()).throw(FileNotFoundError("no bucket")))
    with pytest.raises(ResumeError, match=r"expected the output of a run, found nothing: memory://mill/nothing"):
        opened("memory://mill/nothing")


def test_an_address_without_a_driver_says_what_to_install() -> None:
    with pytest.raises(RecipeError, match=r"cannot reach nowhere://x(.|\n)*pip install"):
        addresses.file_system("nowhere://x")

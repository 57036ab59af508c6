"""Small files that units name by path."""

from pathlib import Path

import pytest

from gristmill.errors import FormatError
from gristmill.formats import resource


def test_lines_are_trimmed_and_comments_left_out(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("# a list\n one \n\ntwo\r\n", encoding="utf-8")
    assert resource.read_lines(str(file)) == ["one", "two"]


def test_a_digest_follows_the_content_not_the_place(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"abc")
    other.write_bytes(b"abc")
    assert resource.digest(str(one)) == resource.digest(str(other))
    other.write_bytes(b"abd")
    assert resource.digest(str(one)) != resource.digest(str(other))


def test_an_address_reads_like_a_path(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_bytes(b"abc")
    address = f"file://{file}"
    assert resource.read_bytes(address) == b"abc"
    assert resource.digest(address) == resource.digest(str(file))


@pytest.mark.parametrize("address", ["nowhere.txt", "file:///nowhere/at/all.txt"])
def test_a_missing_file_is_named(address: str) -> None:
    for read in (resource.read_bytes, resource.digest):
        with pytest.raises(FormatError, match="nowhere"):
            read(address)


def test_a_remote_file_is_copied_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "model.bin"
    file.write_bytes(b"first")
    address = f"file://{file}"
    copy = Path(resource.local_path(address))
    assert copy.read_bytes() == b"first" and copy.is_relative_to(tmp_path / "cache")
    made = copy.stat().st_mtime_ns
    assert Path(resource.local_path(address)).stat().st_mtime_ns == made
    file.write_bytes(b"second")
    assert Path(resource.local_path(address)).read_bytes() == b"second"


def test_a_local_file_is_not_copied() -> None:
    assert resource.local_path("model.bin") == "model.bin"


def test_a_missing_remote_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FormatError, match="nowhere"):
        resource.local_path("file:///nowhere/at/all.bin")


def test_a_digest_is_of_the_bytes_there_now(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_bytes(b"abc")
    before = resource.digest(str(file))
    file.write_bytes(b"abcd")
    assert resource.digest(str(file)) != before

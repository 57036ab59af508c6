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

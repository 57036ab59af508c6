from __future__ import annotations

import os
from pathlib import Path

import fsspec
import pytest

from gristmill.errors import SourceError
from gristmill.sources import find, links_left_out
from reference.reading import read_path, texts, write

LINE = '{"text": "x"}\n'


def names(folder: Path, path: str) -> list[str]:
    return [os.path.relpath(file.path, folder) for file in find(path)]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "b.jsonl",
        "a.jsonl.gz",
        "sub/c.txt",
        "sub/deep/d.CSV",
        "notes.pdf",
        ".hidden.jsonl",
        ".git/e.jsonl",
        "_SUCCESS",
    ):
        write(tmp_path, name, LINE)
    return tmp_path


def test_a_folder_is_all_readable_files_below_it_sorted(tree: Path) -> None:
    assert names(tree, str(tree)) == ["a.jsonl.gz", "b.jsonl", "sub/c.txt", "sub/deep/d.CSV"]


def test_a_glob_is_what_it_matches(tree: Path) -> None:
    assert names(tree, str(tree / "*")) == ["a.jsonl.gz", "b.jsonl"]
    assert names(tree, str(tree / "**" / "*.[tC]*")) == ["sub/c.txt", "sub/deep/d.CSV"]


def test_size_and_stamp(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", LINE)
    before = find(path)[0]
    assert before.bytes == len(LINE)
    os.utime(path, ns=(0, 12345))
    assert find(path)[0].stamp not in (before.stamp, "")
    Path(path).rename(tmp_path / "b.jsonl")
    assert find(str(tmp_path))[0].stamp == f"{len(LINE)}-12345"


@pytest.mark.parametrize(
    "name", ["a b.jsonl", "a\nb.jsonl", "a[1].jsonl", "a*?.jsonl", "tiếng việt.jsonl", "a.b.c.jsonl"]
)
def test_any_file_name_works(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name, LINE)
    assert names(tmp_path, path) == names(tmp_path, str(tmp_path)) == [name]
    assert texts(read_path(path)) == [b"x"]


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.jsonl")).write_text(LINE)
    with pytest.raises(SourceError, match=r"valid UTF-8.*\\xff\.jsonl"):
        find(str(tmp_path))


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    write(tmp_path, "data/inside/a.jsonl", LINE)
    (tmp_path / "data" / "link").symlink_to(tmp_path / "data" / "inside")
    (tmp_path / "data" / "circle").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    assert names(tmp_path, str(tmp_path / "data")) == ["data/inside/a.jsonl", "data/link/a.jsonl"]


@pytest.fixture
def with_links(tmp_path: Path) -> Path:
    for name in ("secrets/key.txt", "secrets/folder/b.jsonl", "data/a.jsonl"):
        write(tmp_path, name, LINE)
    (tmp_path / "data" / "out.txt").symlink_to(tmp_path / "secrets" / "key.txt")
    (tmp_path / "data" / "further").symlink_to(tmp_path / "secrets" / "folder")
    (tmp_path / "data" / "relative.jsonl").symlink_to("../secrets/folder/b.jsonl")
    return tmp_path


@pytest.mark.parametrize("path", ["data", "data/*", "data/**/*"])
def test_links_out_of_the_folder_are_left_out_and_told(with_links: Path, path: str) -> None:
    assert names(with_links, str(with_links / path)) == ["data/a.jsonl"]
    left_out = {os.path.relpath(link, with_links) for link in links_left_out(str(with_links / path))}
    assert left_out - {"data/further", "data/further/b.jsonl"} == {"data/out.txt", "data/relative.jsonl"}


def test_a_link_that_is_named_itself_is_followed(with_links: Path) -> None:
    assert names(with_links, str(with_links / "data" / "out.txt")) == ["data/out.txt"]
    assert names(with_links, str(with_links / "data" / "further")) == ["data/further/b.jsonl"]
    assert links_left_out(str(with_links / "data" / "further")) == []


def test_nothing_but_links_out_is_an_error_that_says_so(with_links: Path) -> None:
    (with_links / "data" / "a.jsonl").unlink()
    with pytest.raises(SourceError, match="3 links that lead out of it, which are not followed"):
        find(str(with_links / "data"))


@pytest.mark.parametrize(
    "path", ["nothing", "nothing*", "nothing/**/*.jsonl", "empty", "other", "other/*", "other/a.pdf"]
)
def test_nothing_found_is_an_error_that_says_what_was_looked_for(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path, "other/a.pdf", "")
    with pytest.raises(SourceError) as error:
        find(str(tmp_path / path))
    assert path in str(error.value) and ".jsonl" in str(error.value) and ".parquet" in str(error.value)


def test_a_saved_dataset_is_no_folder_of_raw_files(tmp_path: Path) -> None:
    write(tmp_path, "state.json", "{}")
    with pytest.raises(SourceError, match="`dataset:` instead of `path:`"):
        find(str(tmp_path))


def test_addresses(tree: Path) -> None:
    base = f"file://{tree}"
    assert [file.path for file in find(base)] == [f"file://{file.path}" for file in find(str(tree))]
    assert [file.path for file in find(f"{base}/*.gz")] == [f"{base}/a.jsonl.gz"]
    assert find(f"{base}/b.jsonl")[0].bytes == len(LINE)
    assert texts(read_path(f"{base}/a.jsonl.gz")) == [b"x"]
    with pytest.raises(SourceError, match="at least one file"):
        find(f"{base}/nothing-*.jsonl")
    with pytest.raises(SourceError, match="known suffix"):
        find(f"{base}/notes.pdf")


def test_memory_addresses_change_their_stamp() -> None:
    fs = fsspec.filesystem("memory")
    fs.pipe("/find-test/a b[1].jsonl", LINE.encode())
    fs.pipe("/find-test/.hidden/c.jsonl", LINE.encode())
    (before,) = find("memory://find-test")
    assert find(before.path) == [before]
    fs.pipe("/find-test/a b[1].jsonl", LINE.replace('"x"', '"y"').encode())
    assert find(before.path)[0].stamp != before.stamp
    assert texts(read_path(before.path)) == [b"y"]


def test_an_unknown_kind_of_address_is_explained() -> None:
    with pytest.raises(SourceError, match="cannot reach nosuch://x"):
        find("nosuch://x/a.jsonl")

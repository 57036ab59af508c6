from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from gristmill.errors import SourceError
from gristmill.sources import Columns, piece
from reference.reading import read_path, texts, write


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t"), ("a.CSV.gz", ",")])
def test_what_the_csv_module_writes_is_read(tmp_path: Path, name: str, delimiter: str) -> None:
    rows = [['a "quoted" one', "1"], ["two\r\nlines, and\na tab\t", "2"], ["", "3"], ["  spaces ", ""], ["é🙂", "5"]]
    plain = tmp_path / "plain"
    with open(plain, "w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([["text", 'the "id"'], *rows])
    found = read_path(write(tmp_path, name, plain.read_bytes()), Columns(id='the "id"', metadata=("text", 'the "id"')))
    assert texts(found) == [text.encode() for text, _ in rows]
    assert [row["id"] for row in found] == ["1", "2", "3", None, "5"]
    assert [json.loads(row["metadata"]) for row in found] == [{"text": text, 'the "id"': id_} for text, id_ in rows]


def test_broken_rows_say_so_and_cost_one_line(tmp_path: Path) -> None:
    lines = [
        "id,text",
        "1,good",
        "2",
        '3,"bad"x',
        "4,a,b",
        '5,"stray',
        "6,good",
        "",
        '7,"go\nod"',
        '8,"stray at the end',
        "9,good",
    ]
    rows = read_path(write(tmp_path, "a.csv", "\n".join(lines)), Columns(id="id", metadata=("text",)))
    assert [row["unreadable"] is None for row in rows] == [True, False, False, False, False, True, True, False, True]
    assert {row["unreadable"] for row in rows} == {None, "unreadable.csv"}
    assert [row["id"] for row in rows if row["text"]] == ["1", "6", "7", "9"]
    assert all(row["text"] is row["id"] is row["metadata"] is None for row in rows if row["unreadable"])


def test_a_quote_that_is_never_closed_does_not_swallow_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(piece, "_LEAST_RECORD_BYTES", 500)
    body = '"stray\n' + "good\n" * 5000
    for batch_bytes in (64, 1 << 10, 1 << 20):
        rows = read_path(write(tmp_path, "a.csv", "text\n" + body), Columns(most_bytes=250), batch_bytes=batch_bytes)
        assert [row["unreadable"] for row in rows] == ["unreadable.csv"] + [None] * 5000


@pytest.mark.parametrize("data", ["", "\n\r\n", "text\n", "text", "\ufefftext\r\n"])
def test_files_without_rows(tmp_path: Path, data: str) -> None:
    assert read_path(write(tmp_path, "a.csv", data)) == []


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert texts(read_path(write(tmp_path, "a.csv", '\ufeff\n"text",id\r\nx,1\r\n'))) == [b"x"]


@pytest.mark.parametrize("columns", [Columns("body"), Columns("Text", id="body"), Columns("Text", metadata=("body",))])
def test_a_missing_column_is_an_error_that_lists_the_ones_there(tmp_path: Path, columns: Columns) -> None:
    path = write(tmp_path, "a.csv", "id,Text\n1,x\n")
    with pytest.raises(SourceError) as error:
        read_path(path, columns)
    assert all(part in str(error.value) for part in (path, "`body`", "`id`, `Text`", "text_column"))


def test_a_column_named_twice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"one column `text`, found it twice"):
        read_path(write(tmp_path, "a.csv", "text,text\nx,y\n"))

from __future__ import annotations

from pathlib import Path

import pytest

from gristmill.errors import SourceError
from gristmill.sources import Columns
from reference.reading import read_path, texts, write

POEM = "\ufeffOne\r\ntwo  \r\n\r\n \t\nthree\n\n\n\nfour\nfive"


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("file", [POEM[1:]]),
        ("paragraph", ["One\r\ntwo  ", "three", "four\nfive"]),
        ("line", ["One", "two  ", "three", "four", "five"]),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.txt.gz", "a.md.zst"])
def test_units(tmp_path: Path, unit: str, expected: list[str], name: str) -> None:
    rows = read_path(write(tmp_path, name, POEM), Columns(id="id", metadata=("url",)), unit=unit)
    assert texts(rows) == [text.encode() for text in expected]
    assert all(row["id"] is row["metadata"] is None for row in rows)
    data = POEM.encode()
    assert all(data[3:].startswith(row["text"]) or data[row["position"] :].startswith(row["text"]) for row in rows)


def test_a_file_is_a_document_unless_said_otherwise(tmp_path: Path) -> None:
    for number in range(50):
        write(tmp_path, f"{number:02}.txt", f"{number}\n\n{number}\n" * (number % 3))
    assert texts(read_path(str(tmp_path))) == [f"{n}\n\n{n}\n".encode() * (n % 3) for n in range(50) if n % 3]


def test_the_unit_does_not_touch_other_formats(tmp_path: Path) -> None:
    assert texts(read_path(write(tmp_path, "a.jsonl", '{"text": "x\\n\\ny"}'), unit="line")) == [b"x\n\ny"]


def test_a_big_file_is_read_whole(tmp_path: Path) -> None:
    data = b"0123456789abcdef" * (1 << 17) + b"!"
    assert texts(read_path(write(tmp_path, "a.txt.gz", data), batch_bytes=1000)) == [data]


def test_unknown_options_list_the_known_ones(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "x")
    with pytest.raises(SourceError, match=r"`sentence`.*file, line, paragraph"):
        read_path(path, unit="sentence")
    with pytest.raises(SourceError, match=r"`units`.*Did you mean `unit`"):
        read_path(path, units="line")

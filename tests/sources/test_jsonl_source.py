from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from gristmill.sources import Columns, find, split
from reference.reading import COMPRESS, chunk_rows, read_path, texts, write


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"text": "x"', "unreadable.json"),
        ('{"text": "x",}', "unreadable.json"),
        ("{'text': 'x'}", "unreadable.json"),
        ('{"text": "x"} {"text": "y"}', "unreadable.json"),
        ('{"text": "a\tb"}', "unreadable.json"),
        ("[1, 2]", "unreadable.not_an_object"),
        ('"text"', "unreadable.not_an_object"),
        ("NaN", "unreadable.not_an_object"),
        ('{"txt": "x"}', "unreadable.missing_text"),
        ("{}", "unreadable.missing_text"),
        ('{"text": "x", "text": null}', "unreadable.null_text"),
        ('{"text": 5}', "unreadable.text_type"),
        ('{"text": ["x"]}', "unreadable.text_type"),
        ('{"text": {"text": "x"}}', "unreadable.text_type"),
    ],
)
def test_bad_rows_say_why_and_good_ones_stay(tmp_path: Path, line: str, reason: str) -> None:
    path = write(tmp_path, "a.jsonl", f'{{"text": "before"}}\n{line}\n{{"text": "after"}}')
    before, bad, after = read_path(path)
    assert (before["text"], after["text"]) == (b"before", b"after")
    assert (bad["unreadable"], bad["text"], bad["position"]) == (reason, None, 19)


def test_text_is_unescaped_and_otherwise_raw(tmp_path: Path) -> None:
    lines = [
        rb'{"text": "\u00e9\ud83d\ude00\n\"\\"}',
        rb'{"text": "\ud800x\udc00"}',
        b'{"text": "\xff\xc3(\0"}',
        b'{"text": ""}',
    ]
    lines[2] = lines[2].replace(b"\0", rb"\u0000")
    rows = read_path(write(tmp_path, "a.jsonl", b"\r\n".join(lines) + b"\r\n \t\r\n\n"))
    assert texts(rows) == ['é😀\n"\\'.encode(), b"\xed\xa0\x80x\xed\xb0\x80", b"\xff\xc3(\0", b""]


def test_ids_are_strings_or_scalars_as_written(tmp_path: Path) -> None:
    values = ['"a\\n\\u00e9"', "12", "-1.50e2", "true", "null", "[1]", '{"a": "\\n"}', '"\\ud800"', '""']
    lines = [f'{{"text": "x", "id": {value}}}' for value in values] + ['{"text": "x"}']
    rows = read_path(write(tmp_path, "a.jsonl", "\n".join(lines)), Columns(id="id"))
    assert [row["id"] for row in rows] == ["a\né", "12", "-1.50e2", "true", None, None, None, "\ufffd" * 3, "", None]


def test_metadata_are_the_named_values_as_written(tmp_path: Path) -> None:
    lines = [
        '{"text": "x", "n": 1.50, "url": "a\\n\\u00e9", "more": {"k": [1, null]}}',
        '{"n": null, "text": "x"}',
        '{"text": 1}',
        "{",
    ]
    columns = Columns(metadata=("url", "n", "more", "text"), id="n")
    first, second, third, broken = read_path(write(tmp_path, "a.jsonl", "\n".join(lines)), columns)
    assert first["metadata"] == '{"url": "a\\n\\u00e9", "n": 1.50, "more": {"k": [1, null]}, "text": "x"}'
    assert first["id"] == "1.50"
    assert json.loads(second["metadata"]) == {"n": None, "text": "x"}
    assert json.loads(third["metadata"]) == {"text": 1}
    assert (broken["metadata"], broken["id"]) == (None, None)
    assert read_path(write(tmp_path, "b.jsonl", lines[0]), Columns(metadata=("nothing",)))[0]["metadata"] is None


def test_names_of_columns_may_be_anything(tmp_path: Path) -> None:
    row = {'a "b"\n': "text", "": "id", "ключ": 1}
    path = write(tmp_path, "a.jsonl", json.dumps(row))
    (found,) = read_path(path, Columns(text='a "b"\n', id="", metadata=("ключ",)))
    assert (found["text"], found["id"]) == (b"text", "id")
    assert json.loads(found["metadata"]) == {"ключ": 1}


@pytest.mark.parametrize("data", [b"", b"\n \n\r\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("suffix", COMPRESS)
def test_an_empty_file_has_no_rows(tmp_path: Path, data: bytes, suffix: str) -> None:
    assert read_path(write(tmp_path, f"a.jsonl{suffix}", data)) == []


def test_a_file_of_no_bytes_at_all_has_no_rows(tmp_path: Path) -> None:
    for suffix in COMPRESS:
        (tmp_path / f"a.jsonl{suffix}").write_bytes(b"")
    write(tmp_path, "b.jsonl", '{"text": "x"}')
    assert texts(read_path(str(tmp_path))) == [b"x"]


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    rows = read_path(write(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"text": "x"}\n{"text": "y"}\n'))
    assert texts(rows) == [b"x", b"y"]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_line_of_50_megabytes(tmp_path: Path, suffix: str) -> None:
    text = "0123456789abcde\n" * (50 << 16)
    path = write(
        tmp_path, f"a.jsonl{suffix}", "\n".join(json.dumps({"text": each}) for each in ("before", text, "after"))
    )
    chunks = split(find(path), {}, 4 << 20)
    assert len(chunks) > 10 or suffix
    found = texts([row for chunk in chunks for row in chunk_rows(chunk, batch_bytes=1 << 20)])
    assert found == [b"before", text.encode(), b"after"]


def test_rows_of_many_files_come_in_order_and_know_their_file(tmp_path: Path) -> None:
    for number in range(30):
        write(tmp_path, f"{number:02}.jsonl" + [".gz", ""][number % 2], '{"text": "x"}\n' * number)
    (chunk,) = split(find(str(tmp_path)), {}, 1 << 30)
    rows = chunk_rows(chunk)
    assert [row["file"] for row in rows] == [number for number in range(30) for _ in range(number)]
    assert chunk.pieces[rows[-1]["file"]].path.endswith("29.jsonl")


def test_a_limit_counts_rows_and_reads_no_further(tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path, f"{name}.jsonl", '{"text": "x"}\n{broken\n' * 5)
    (tmp_path / "d.jsonl.gz").write_bytes(b"not a gz file at all")
    (chunk,) = split(find(str(tmp_path)), {}, 10, limit_docs=23)
    rows = chunk_rows(chunk)
    assert [row["file"] for row in rows] == [0] * 10 + [1] * 10 + [2] * 3


def test_gz_members_and_zst_frames_are_read_to_the_end(tmp_path: Path) -> None:
    rows = [b'{"text": "%d"}\n' % number for number in range(50)]
    for suffix, compress in COMPRESS.items():
        if suffix:
            (tmp_path / f"a.jsonl{suffix}").write_bytes(b"".join(map(compress, rows)))
    (tmp_path / "padded.jsonl.gz").write_bytes(
        gzip.compress(rows[0]) + b"\0" * 100 + gzip.compress(rows[1]) + b"\0" * 9
    )
    found = texts(read_path(str(tmp_path)))
    assert found == [str(number).encode() for number in range(50)] * 4 + [b"0", b"1"]


def test_real_corpora_equal_json_loads(corpora: Path) -> None:
    for path in sorted(corpora.glob("*.jsonl*")):
        rows = read_path(str(path), Columns(id="id", metadata=("lang",)), batch_bytes=8 << 20)
        data = b"".join(bytes(part) for part in _plain(path))
        expected = [json.loads(line) for line in data.splitlines()]
        assert [row["text"].decode() for row in rows] == [row["text"] for row in expected]
        assert [row["id"] for row in rows] == [row.get("id") for row in expected]
        metadata = [{"lang": row["lang"]} if "lang" in row else None for row in expected]
        assert [row["metadata"] and json.loads(row["metadata"]) for row in rows] == metadata


def _plain(path: Path) -> list[bytes]:
    if path.suffix == ".gz":
        return [gzip.decompress(path.read_bytes())]
    import zstandard

    with open(path, "rb") as file:
        return [zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()]

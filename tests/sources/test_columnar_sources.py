"""Parquet and Arrow files: the same rows, the same troubles."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from gristmill.errors import SourceError
from gristmill.sources import Columns, find, split
from reference.reading import chunk_rows, read_path, texts

BATCH_ROWS = 7


def write_stream(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=BATCH_ROWS)


def write_file(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=BATCH_ROWS)


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "a.parquet": lambda table, path: pq.write_table(table, path, row_group_size=BATCH_ROWS),
    "plain.parquet": lambda table, path: pq.write_table(table, path, row_group_size=BATCH_ROWS, use_dictionary=False),
    "file.arrow": write_file,
    "stream.arrow": write_stream,
    "a.feather": lambda table, path: feather.write_feather(table, str(path), "lz4", chunksize=BATCH_ROWS),
    "a.ipc": write_file,
}
TEXTS = [f"text {number} " * (number % 5) + "é" for number in range(100)]
TABLE = pa.table({"id": range(100), "other": [0.5] * 100, "text": TEXTS})
TEXT_TYPES = [
    *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.dictionary(pa.int8(), pa.string())),
    *(pa.string_view(), pa.binary_view(), pa.dictionary(pa.int32(), pa.large_string())),
]


@pytest.fixture(params=WRITERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_rows_come_out_whatever_the_chunks(tmp_path: Path, name: str) -> None:
    WRITERS[name](TABLE, tmp_path / name)
    path = str(tmp_path / name)
    for address in (path, f"file://{path}"):
        expected = read_path(address, Columns(id="id"))
        assert texts(expected) == [text.encode() for text in TEXTS]
        assert [row["id"] for row in expected] == [str(number) for number in range(100)]
        assert len({row["position"] for row in expected}) == 100
        for chunk_bytes, batch_bytes in ((1 << 14, 50), (1 << 8, 1 << 20), (1, 1)):
            chunks = split(find(address), {}, chunk_bytes)
            assert [row for chunk in chunks for row in chunk_rows(chunk, Columns(id="id"), batch_bytes)] == expected
            assert sum(chunk.bytes for chunk in chunks) <= Path(path).stat().st_size
        assert len(chunks) == 15 or (name, address) == ("stream.arrow", f"file://{path}")


def test_positions(tmp_path: Path) -> None:
    WRITERS["a.parquet"](TABLE, tmp_path / "a.parquet")
    WRITERS["file.arrow"](TABLE, tmp_path / "file.arrow")
    assert [row["position"] for row in read_path(str(tmp_path / "a.parquet"))] == list(range(100))
    arrow = [row["position"] for row in read_path(str(tmp_path / "file.arrow"))]
    assert arrow == [(number // BATCH_ROWS << 32) + number % BATCH_ROWS for number in range(100)]


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
def test_any_type_of_text(tmp_path: Path, name: str, kind: Any) -> None:
    plain = pa.array(["a", None, "", "é" * 100, "a"])
    column = plain.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else plain.cast(kind)
    WRITERS[name](pa.table({"text": column}), tmp_path / name)
    rows = read_path(str(tmp_path / name), Columns(id="text", metadata=("text",)))
    assert [row["text"] for row in rows] == [b"a", None, b"", ("é" * 100).encode(), b"a"]
    assert [row["unreadable"] for row in rows] == [None, "unreadable.null_text", None, None, None]
    assert [row["id"] for row in rows] == ["a", None, "", "é" * 100, "a"]
    assert [json.loads(row["metadata"])["text"] for row in rows] == ["a", None, "", "é" * 100, "a"]


@pytest.mark.parametrize(
    "values", [[1, None], [1.5, None], [["x"], None], [{"text": "x"}, None], [None, None], [True, None]], ids=str
)
def test_text_of_another_type_is_unreadable(tmp_path: Path, values: list[Any]) -> None:
    pq.write_table(pa.table({"text": values}), tmp_path / "a.parquet")
    rows = read_path(str(tmp_path / "a.parquet"))
    expected = "unreadable.null_text" if values[0] is None else "unreadable.text_type"
    assert [row["unreadable"] for row in rows] == [expected, "unreadable.null_text"]


def test_ids_and_metadata_of_any_type(tmp_path: Path) -> None:
    columns = {
        "int": [1, None],
        "float": [1.5, float("nan")],
        "bool": [True, False],
        "text": ['a "quoted"\n', "\x01é"],
        "list": [[1, None], []],
        "struct": [{"a": "é"}, None],
        "when": pa.array([0, None], pa.timestamp("ms")),
        "bytes": [b"ok", b"\xff"],
        "kind": pa.array(["x", None]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    names = tuple(columns)
    rows = [json.loads(row["metadata"]) for row in read_path(str(tmp_path / "a.parquet"), Columns(metadata=names))]
    assert [tuple(row) for row in rows] == [names, names]
    first, second = (list(row.values()) for row in rows)
    assert first == [1, 1.5, True, 'a "quoted"\n', [1, None], {"a": "é"}, "1970-01-01 00:00:00", "ok", "x"]
    assert second == [None, None, False, "\x01é", [], None, None, "\ufffd", None]
    ids = {name: [row["id"] for row in read_path(str(tmp_path / "a.parquet"), Columns(id=name))] for name in names}
    assert ids["int"] == ["1", None] and ids["float"] == ["1.5", "nan"] and ids["bytes"] == ["ok", "\ufffd"]
    assert ids["struct"] == ['{"a": "é"}', None] and ids["kind"] == ["x", None] and ids["bool"] == ["true", "false"]


def test_text_that_is_not_utf8_passes(tmp_path: Path, name: str) -> None:
    raw = pa.array([b"\xff\xfe", b"ok"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    WRITERS[name](pa.table({"text": broken}), tmp_path / name)
    assert texts(read_path(str(tmp_path / name))) == [b"\xff\xfe", b"ok"]


@pytest.mark.parametrize("columns", [Columns("body"), Columns(id="body"), Columns(metadata=("body",))])
def test_a_missing_column_is_an_error_that_lists_the_ones_there(tmp_path: Path, name: str, columns: Columns) -> None:
    WRITERS[name](TABLE, tmp_path / name)
    with pytest.raises(SourceError) as error:
        read_path(str(tmp_path / name), columns)
    assert all(part in str(error.value) for part in (name, "`body`", "`id`, `other`, `text`", "text_column"))


def test_empty_files_have_no_rows(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    assert read_path(str(tmp_path / name)) == []
    WRITERS[name](TABLE.slice(0, 0), tmp_path / name)
    assert read_path(str(tmp_path / name)) == []


@pytest.mark.parametrize("chunk_bytes", [1, 1 << 30])
def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path, name: str, chunk_bytes: int) -> None:
    WRITERS[name](pa.table({"text": [str(number) * 50 for number in range(1000)]}), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    for damaged in (data[: len(data) // 2], b"nonsense" * 100):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(SourceError, match=rf"found damage.*{name}"):
            for chunk in split(find(str(tmp_path / name)), {}, chunk_bytes):
                chunk_rows(chunk)


def test_a_damaged_page_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    values = [str(number) * 50 for number in np.random.default_rng(1).integers(0, 1 << 60, 1000)]
    pq.write_table(pa.table({"text": values}), path, compression="zstd", write_page_checksum=True)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"found damage.*a\.parquet"):
        read_path(str(path))


def test_offsets_that_point_anywhere_are_noticed(tmp_path: Path) -> None:
    good = pa.array(["abc", "def"], pa.large_string())
    offsets = pa.py_buffer(np.array([0, 1 << 40, 6], np.int64))
    bad = pa.Array.from_buffers(pa.large_string(), 2, [None, offsets, good.buffers()[2]])
    write_file(pa.table({"text": bad}), tmp_path / "a.arrow")
    with pytest.raises(SourceError, match=r"found damage.*a\.arrow"):
        read_path(str(tmp_path / "a.arrow"))


def test_schemas_may_differ_between_files(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a"], "n": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": pa.array(["b"], pa.large_string())}), tmp_path / "b.parquet")
    assert texts(read_path(str(tmp_path))) == [b"a", b"b"]


def test_rows_are_cut_by_the_bytes_of_their_text(tmp_path: Path) -> None:
    from gristmill.sources import read

    long_and_short = ["x" * 1000, *["y"] * 2000, "z" * 1000] * 3
    column = pa.array(long_and_short).dictionary_encode()
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    (chunk,) = split(find(str(tmp_path)), {}, 1 << 30)
    sizes = [sum(map(len, batch.column("text").to_pylist())) for batch in read(chunk, Columns(), 1500)]
    assert sum(sizes) == sum(map(len, long_and_short))
    assert max(sizes) <= 1500 * 1.5 and len(sizes) < 20


def test_the_prose_corpus(corpora: Path) -> None:
    path = corpora / "english-prose.parquet"
    expected = pq.read_table(path)
    rows = read_path(str(path), Columns(id="id"))
    assert [row["text"].decode() for row in rows] == expected["text"].to_pylist()
    assert [row["id"] for row in rows] == expected["id"].to_pylist()

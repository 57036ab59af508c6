"""A text that is too long is a counted verdict with its place, whatever the cuts and blocks, in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.sources import Columns, find, read, split
from reference.reading import COMPRESS, chunk_rows, pieces, read_path, write

LIMIT = 1 << 10
SHORT = Columns(most_bytes=LIMIT)
TEXTS = ["a", "b" * LIMIT, "c" * (LIMIT + 1), "d", "e" * 50_000, "f"]
EXPECTED = [None, None, "skipped.too_long", None, "skipped.too_long", None]
JSONL = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)


def verdicts(rows: list[dict[str, Any]]) -> list[str | None]:
    assert all((row["text"] is None) == (row["unreadable"] is not None) for row in rows)
    return [row["unreadable"] for row in rows]


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("batch_bytes", [100, 3000, 1 << 20])
def test_jsonl_of_any_cut_and_block(tmp_path: Path, suffix: str, batch_bytes: int) -> None:
    path = write(tmp_path, f"a.jsonl{suffix}", JSONL)
    assert verdicts(read_path(path, SHORT, batch_bytes)) == EXPECTED
    chunks = pieces(path, range(0, len(JSONL), 7001))
    assert verdicts([row for chunk in chunks for row in chunk_rows(chunk, SHORT, batch_bytes)]) == EXPECTED


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "txt"])
def test_other_formats(tmp_path: Path, kind: str) -> None:
    if kind == "csv":
        found = read_path(write(tmp_path, "a.csv", "text\n" + "\n".join(TEXTS) + "\n"), SHORT)
    elif kind == "parquet":
        pq.write_table(pa.table({"text": TEXTS}), tmp_path / "a.parquet")
        found = read_path(str(tmp_path / "a.parquet"), SHORT)
    elif kind == "arrow":
        with pa.ipc.new_file(str(tmp_path / "a.arrow"), pa.schema([("text", pa.string())])) as writer:
            writer.write_table(pa.table({"text": TEXTS}))
        found = read_path(str(tmp_path / "a.arrow"), SHORT)
    else:
        found = [row for n, text in enumerate(TEXTS) for row in read_path(write(tmp_path, f"{n}.txt", text), SHORT)]
    assert verdicts(found) == EXPECTED


@pytest.mark.parametrize("unit", ["line", "paragraph"])
def test_plain_text(tmp_path: Path, unit: str) -> None:
    path = write(tmp_path, "a.txt", "\n\n".join(TEXTS) + "\n")
    for batch_bytes in (100, 1 << 20):
        assert verdicts(read_path(path, SHORT, batch_bytes, unit=unit)) == EXPECTED


def test_a_line_longer_than_any_record_is_left_behind(tmp_path: Path) -> None:
    """Whatever its other values: nothing of it is kept while the next newline is looked for."""
    long = 17 << 20
    path = write(tmp_path, "a.jsonl", '{"text": "a"}\n{"x": "' + "y" * long + '", "text": "b"}\n{"text": "c"}\n')
    for batch_bytes in (1 << 16, 8 << 20):
        rows = read_path(path, SHORT, batch_bytes)
        assert [(row["position"], row["unreadable"]) for row in rows] == [
            (0, None), (14, "skipped.too_long"), (14 + long + 23, None)
        ]  # fmt: skip
    unended = write(tmp_path, "b.jsonl", '{"text": "a"}\n{"x": "' + "y" * long)
    assert verdicts(read_path(unended, SHORT)) == [None, "skipped.too_long"]


BOMB = """
import resource, sys
from gristmill.sources import Columns, find, read, split
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
for warm_up, path in enumerate(sys.argv[1:]):
    before, rows = peak(), 0
    for chunk in split(find(path), {}, 1 << 40):
        for batch in read(chunk, Columns(most_bytes=1 << 20), 1 << 20):
            rows += batch.num_rows
print(rows, peak() - before)
"""


def grown(small: Path, bomb: Path) -> tuple[int, int]:
    """Rows, and by how many MB memory grew over what reading a small file of the kind took."""
    command = [sys.executable, "-c", BOMB, str(small), str(bomb)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows, grown_mb = map(int, done.stdout.split())
    return rows, grown_mb


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".bz2", ".xz"])
def test_one_line_that_never_ends(tmp_path: Path, suffix: str) -> None:
    """120 MB in one line, in a file of some kB."""
    data = COMPRESS[suffix](b'{"text": "' + b"x" * (120 << 20) + b'"}\n{"text": "after"}\n')
    assert len(data) < 1 << 20
    (tmp_path / f"bomb.jsonl{suffix}").write_bytes(data)
    (tmp_path / f"small.jsonl{suffix}").write_bytes(COMPRESS[suffix](b'{"text": "a"}\n'))
    rows, grown_mb = grown(tmp_path / f"small.jsonl{suffix}", tmp_path / f"bomb.jsonl{suffix}")
    assert rows == 2
    assert grown_mb < 90


def test_a_long_string_that_many_rows_name(tmp_path: Path) -> None:
    """A Parquet file of some kB: 4,000 rows, each the same megabyte. Spelled out they are 4 GB."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 4000, pa.int32()), ["x" * (1 << 20)])
    pq.write_table(pa.table({"text": texts}), tmp_path / "bomb.parquet", compression="zstd")
    assert (tmp_path / "bomb.parquet").stat().st_size < 1 << 20
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "small.parquet")
    rows, grown_mb = grown(tmp_path / "small.parquet", tmp_path / "bomb.parquet")
    assert rows == 4000
    assert grown_mb < 90


def test_a_zstd_window_that_nobody_could_hold(tmp_path: Path) -> None:
    import zstandard

    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=31, enable_ldm=True)
    data = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    content = data.compress(b'{"text": "a"}\n' * 10) + data.flush()
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(content)
    [chunk] = split(find(str(path)), {}, 1 << 30)
    found = [reason for batch in read(chunk, Columns()) for reason in batch["unreadable"].to_pylist()]
    assert found == ["unreadable.corrupt"]

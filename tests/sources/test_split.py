from __future__ import annotations

import builtins
import io
import random
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.errors import SourceError
from gristmill.sources import Chunk, InputFile, find, split
from reference.reading import chunk_rows, write

LINE = '{"text": "0123456789"}\n'


def ranges(chunks: list[Chunk]) -> list[tuple[int, int | None]]:
    return [(piece.start, piece.stop) for chunk in chunks for piece in chunk.pieces]


def test_a_big_plain_file_is_cut_into_byte_ranges(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", LINE * 1000)
    chunks = split(find(path), {}, 5000)
    assert ranges(chunks) == [(0, 5000), (5000, 10000), (10000, 15000), (15000, 20000), (20000, None)]
    assert [len(chunk_rows(chunk)) for chunk in chunks] == [218, 217, 218, 217, 130]


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".bz2", ".xz"])
def test_a_compressed_file_is_cut_by_what_its_first_megabyte_says(tmp_path: Path, suffix: str) -> None:
    rng = random.Random(1)
    data = "".join(f'{{"text": "{rng.getrandbits(40):x}{"-" * 40}"}}\n' for _ in range(20_000))
    path = write(tmp_path, f"a.jsonl{suffix}", data)
    chunks = split(find(path), {}, 150_000)
    assert len(chunks) == pytest.approx(len(data) / 150_000, rel=0.3)
    assert [start for start, _ in ranges(chunks)] == [number * 150_000 for number in range(len(chunks))]
    assert ranges(chunks)[-1][1] is None
    assert sum(len(chunk_rows(chunk)) for chunk in chunks) == 20_000


def test_parquet_is_cut_between_row_groups(tmp_path: Path) -> None:
    table = pa.table({"text": [f"{number:050}" for number in range(1000)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=100, use_dictionary=False)
    group_bytes = pq.read_metadata(tmp_path / "a.parquet").row_group(0).total_byte_size
    chunks = split(find(str(tmp_path)), {}, group_bytes * 3 // 2)
    assert ranges(chunks) == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]


def test_small_files_share_a_chunk_and_big_ones_do_not(tmp_path: Path) -> None:
    for name, lines in (("a", 1), ("b", 1), ("c", 40_000), ("d", 1), ("e", 1)):
        write(tmp_path, f"{name}.jsonl", LINE * lines)
    chunks = split(find(str(tmp_path)), {}, 500_000)
    names = ["".join(Path(piece.path).stem for piece in chunk.pieces) for chunk in chunks]
    assert names == ["ab", "c", "c", "de"]


def test_cuts_depend_on_files_and_chunk_bytes_only(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl.gz", LINE * 10_000)
    write(tmp_path, "b.csv", "text\n" + "x\n" * 10_000)
    files = find(str(tmp_path))
    assert split(files, {}, 20_000) == split(files, {}, 20_000)
    assert split(files, {}, 20_000) != split(files, {}, 30_000)


def test_a_limit_is_one_chunk_of_everything(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path, f"{name}.jsonl", LINE * 100)
    (chunk,) = split(find(str(tmp_path)), {}, 10, limit_docs=150)
    assert (chunk.limit, ranges([chunk])) == (150, [(0, None), (0, None)])
    assert len(chunk_rows(chunk)) == 150


def test_chunks_tell_their_size_on_disk(tmp_path: Path) -> None:
    path = Path(write(tmp_path, "a.jsonl.gz", "".join(LINE.replace("0", str(n)) for n in range(9999))))
    chunks = split(find(str(path)), {}, 50_000)
    assert sum(chunk.bytes for chunk in chunks) == pytest.approx(path.stat().st_size, rel=0.01)


def test_a_hundred_thousand_small_files_are_planned_without_opening_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("a small file was opened")

    suffixes = (".jsonl", ".jsonl.gz", ".txt", ".parquet", ".csv.zst")
    files = [InputFile(f"data/{n:06}{suffixes[n % 5]}", 3000, str(n)) for n in range(100_000)]
    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(io, "FileIO", refuse)
    begun = time.perf_counter()
    chunks = split(files, {"unit": "file"}, 64 << 20)
    assert time.perf_counter() - begun < 5
    assert [piece.path for chunk in chunks for piece in chunk.pieces] == [file.path for file in files]
    assert 20 < len(chunks) < 200


def test_a_file_of_an_unknown_suffix_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"known suffix, found a\.pdf"):
        split([InputFile("a.pdf", 1, "")], {}, 10)

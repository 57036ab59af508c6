"""Whatever the cuts, the batches and the order of work, each row comes out once, and the same."""

from __future__ import annotations

import random
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.sources import Columns, find, read, records, split
from gristmill.sources.decompress import DecompressedFile
from reference.reading import COMPRESS, chunk_rows, pieces, read_path, write

JSONL = "".join(
    f'{{"text": "{"é" * (i % 50)}\\n{i}", "id": {i}}}\r\n' + "\n" * (i % 3) + ("{broken\n" if i % 17 == 0 else "")
    for i in range(200)
)
CSV = "id,text\r\n" + "".join(
    f'{i},"a ""{i}"" \n{"x," * (i % 40)}"\r\n' + 'stray,"\n' * (i % 19 == 0) for i in range(200)
)
TEXT = "".join(f"line {i} {'y' * (i % 70)}\n" + " \n\n" * (i % 4 == 0) for i in range(300))
FORMATS = {
    "a.jsonl": (JSONL, {}),
    "a.csv": (CSV, {}),
    "a.tsv": (CSV.replace(",", "\t"), {}),
    "line.txt": (TEXT, {"unit": "line"}),
    "paragraph.txt": (TEXT, {"unit": "paragraph"}),
}


def columns_of(name: str) -> Columns:
    return Columns(id=None if name.endswith("txt") else "id")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("suffix", COMPRESS)
def test_any_cuts_in_any_order_with_any_batches(tmp_path: Path, name: str, suffix: str) -> None:
    data, options = FORMATS[name]
    path = write(tmp_path, name + suffix, data)
    columns = columns_of(name)
    expected = read_path(path, columns, **options)
    assert len(expected) > 60
    rng = random.Random(name)
    size = len(data.encode())
    for batch_bytes in (1 << 20, 900, 64):
        bounds = [0, *sorted(rng.sample(range(1, size + 40), 40)), size + 50]
        chunks = pieces(path, bounds, **options)
        order = list(range(len(chunks)))
        if batch_bytes == 900:
            order = [*order[::2], *order[1::2]]  # what two workers do
        if batch_bytes == 64:
            rng.shuffle(order)
        found = {number: chunk_rows(chunks[number], columns, batch_bytes) for number in order}
        assert [row for number in sorted(found) for row in found[number]] == expected
        assert all(bounds[n] <= row["position"] for n, rows in found.items() for row in rows)


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(['{"text": "a"}', "{}", "", " ", '"', "\r", "x" * 40, '{"text": "é\\n"}', ",", '""']),
        max_size=15,
    ),
    st.sampled_from(sorted(FORMATS)),
    st.integers(1, 60),
)
def test_every_cut_of_nasty_little_files(tmp_path_factory: Any, lines: list[str], name: str, step: int) -> None:
    data = "text\n" * name.endswith("sv") + "\n".join(lines)
    if name.endswith("tsv"):
        data = data.replace(",", "\t")
    path = write(tmp_path_factory.getbasetemp(), f"nasty-{name}", data)
    options = FORMATS[name][1]
    expected = read_path(path, **options)
    bounds = range(0, len(data.encode()) + step, step)
    assert [row for chunk in pieces(path, bounds, **options) for row in chunk_rows(chunk)] == expected


def test_positions_lead_back_to_the_rows(tmp_path: Path) -> None:
    data = JSONL.encode()
    for row in read_path(write(tmp_path, "a.jsonl.zst", data), Columns(id="id")):
        line = data[row["position"] :].partition(b"\n")[0]
        if row["unreadable"]:
            assert line == b"{broken"
        else:
            assert f'"id": {row["id"]}}}'.encode() in line


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_worker_decompresses_a_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    """Tasks k, k + 2, k + 5 of one file, one process: the second skips, none begins anew; going back does."""
    path = write(tmp_path, "a.jsonl" + suffix, JSONL)
    opened = []

    class Counted(DecompressedFile):
        def __init__(self, *arguments: Any) -> None:
            opened.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(records, "DecompressedFile", Counted)
    chunks = pieces(path, range(0, len(JSONL), 1000))
    expected = {n: chunk_rows(chunk) for n, chunk in enumerate(chunks)}
    opened.clear()
    for number in (0, 1, 3, 6):
        assert chunk_rows(chunks[number]) == expected[number]
    assert len(opened) == 1
    assert chunk_rows(chunks[2]) == expected[2]
    assert len(opened) == 2


@pytest.mark.parametrize("name", FORMATS)
def test_batches_end_at_the_same_rows_whoever_read_before(tmp_path: Path, name: str) -> None:
    data, options = FORMATS[name]
    columns = columns_of(name)
    chunks = pieces(write(tmp_path, name + ".gz", data), range(0, len(data) + 1000, 1000), **options)

    def sizes(number: int) -> list[int]:
        return [len(batch) for batch in read(chunks[number], columns, 300)]

    afresh = {number: sizes(number) for number in reversed(range(len(chunks)))}  # going back opens the file anew
    assert {number: sizes(number) for number in range(len(chunks))} == afresh
    assert max(map(len, afresh.values())) > 2


def test_two_readers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl.gz", JSONL)
    chunks = pieces(path, range(0, len(JSONL), 2000))
    both = (read(chunk, Columns(), 300) for chunk in (chunks[0], chunks[2]))
    found: tuple[list[Any], list[Any]] = ([], [])
    for batches in zip_longest(*both):
        for rows, batch in zip(found, batches, strict=True):
            rows += batch.to_pylist() if batch else []
    assert found == (chunk_rows(chunks[0]), chunk_rows(chunks[2]))


def test_batches_of_any_mixture_of_sizes_keep_the_order(tmp_path: Path) -> None:
    rng = random.Random(3)
    for number in range(60):
        write(tmp_path, f"{number:02}.txt", f"{number} " + "x" * rng.choice([1, 300, 500, 700, 3000]))
    (chunk,) = split(find(str(tmp_path)), {}, 1 << 30)
    for batch_bytes in (100, 1000, 1 << 20):
        rows = chunk_rows(chunk, batch_bytes=batch_bytes)
        assert [int(row["text"].split()[0]) for row in rows] == [row["file"] for row in rows] == list(range(60))

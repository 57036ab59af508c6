from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gristmill.errors import SourceError
from gristmill.sources import find, split
from reference.reading import COMPRESS, chunk_rows, pieces, read_path, write

LINES = [f'{{"text": "{number} {number * 2654435761 % 10**9}"}}\n' for number in range(20_000)]
SUFFIXES = [suffix for suffix in COMPRESS if suffix]
HELD_BACK = {".gz": 0.2, ".zst": 0.4, ".bz2": 0.3, ".xz": 0.2}  # the share of a file that a decoder may be behind


def summary(rows: list[dict[str, Any]]) -> tuple[int, list[tuple[int, str]]]:
    """How many good rows there are before the bad ones, and the bad ones."""
    good = [row for row in rows if row["unreadable"] is None]
    assert rows[: len(good)] == good
    assert [row["text"].split()[0] for row in good] == [str(number).encode() for number in range(len(good))]
    return len(good), [(row["position"], row["unreadable"]) for row in rows[len(good) :]]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("share", [0.999, 0.5])
def test_a_truncated_file_gives_the_rows_before_and_a_row_that_says_so(
    tmp_path: Path, suffix: str, share: float
) -> None:
    path = Path(write(tmp_path, f"a.jsonl{suffix}", "".join(LINES)))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    good, bad = summary(read_path(str(path)))
    assert good > len(LINES) * (share - HELD_BACK[suffix])
    assert bad == [(sum(map(len, LINES[:good])), "unreadable.truncated")]

    size = sum(map(len, LINES))
    chunks = pieces(str(path), range(0, size, size // 9))
    found = [row for chunk in chunks for row in chunk_rows(chunk, batch_bytes=1 << 14)]
    assert summary(found) == (good, bad)
    backwards = [chunk_rows(chunk, batch_bytes=1 << 14) for chunk in reversed(chunks)]
    assert [row for rows in reversed(backwards) for row in rows] == found


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt"])
def test_a_bound_within_the_line_that_is_cut_off_costs_no_row(tmp_path: Path, name: str) -> None:
    heading = "text\n" if name == "a.csv" else ""
    path = Path(write(tmp_path, f"{name}.gz", heading + "".join(LINES[:2000]).replace('"', "" if heading else '"')))
    path.write_bytes(path.read_bytes()[:-3000])
    whole = read_path(str(path), unit="line")
    assert len(whole) > 100
    assert whole[-1]["unreadable"] == "unreadable.truncated"
    broken_at = whole[-1]["position"]
    for bound in (broken_at - 1, broken_at, broken_at + 1, broken_at + 5):
        chunks = pieces(str(path), [0, bound], unit="line")
        assert [row for chunk in chunks for row in chunk_rows(chunk)] == whole


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_lacks_its_last_byte_is_truncated_too(tmp_path: Path, suffix: str) -> None:
    path = Path(write(tmp_path, f"a.jsonl{suffix}", "".join(LINES[:9])))
    path.write_bytes(path.read_bytes()[:-1])
    _, bad = summary(read_path(str(path)))
    assert [reason for _, reason in bad] == ["unreadable.truncated"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_corrupt_data_gives_the_rows_before_and_a_row_that_says_so(tmp_path: Path, suffix: str) -> None:
    path = Path(write(tmp_path, f"a.jsonl{suffix}", "".join(LINES)))
    whole = path.read_bytes()
    path.write_bytes(whole + b"garbage")
    assert summary(read_path(str(path))) == (len(LINES), [(sum(map(len, LINES)), "unreadable.corrupt")])


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_flipped_bits_are_noticed(tmp_path: Path, suffix: str) -> None:
    path = Path(write(tmp_path, f"a.jsonl{suffix}", "".join(LINES)))
    whole = path.read_bytes()
    for at in (len(whole) // 2, -6):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at:][1:])
        rows = read_path(str(path))
        assert rows[-1]["unreadable"] == "unreadable.corrupt"
        assert len(rows) > len(LINES) * (0.5 - HELD_BACK[suffix])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_not_what_its_name_says_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_text("".join(LINES))
    with pytest.raises(SourceError, match=rf"expected \{suffix} data, found .*a\.jsonl\{suffix}"):
        read_path(str(path))


@pytest.mark.parametrize("name", ["a.csv.gz", "line.txt.gz", "paragraph.txt.gz", "file.txt.gz"])
def test_other_formats_break_off_as_well(tmp_path: Path, name: str) -> None:
    path = Path(write(tmp_path, name, "text\n" + '"some text"\n\n' * 50_000))
    path.write_bytes(path.read_bytes()[:-30])
    unit = name.partition(".")[0]
    rows = read_path(str(path), **({"unit": unit} if "txt" in name else {}))
    assert rows[-1]["unreadable"] == "unreadable.truncated"
    assert all(row["unreadable"] is None for row in rows[:-1])
    assert len(rows) == 1 if unit == "file" else len(rows) > 30_000


def test_a_file_that_cannot_be_opened_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = Path(write(tmp_path, "a.jsonl", LINES[0]))
    (chunk,) = split(find(str(path)), {}, 1 << 20)
    path.unlink()
    with pytest.raises(SourceError, match=r"No such file.*a\.jsonl"):
        chunk_rows(chunk)


BOMB = """
import resource, sys
from gristmill.sources import Columns, find, read, split
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
(chunk,) = split(find(sys.argv[1]), {}, 1 << 40)
before, rows = 0, 0
for batch in read(chunk, Columns(), 1 << 20):
    before = before or peak()
    rows += batch.num_rows
print(rows, peak() - before)
"""


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_memory_does_not_grow_with_what_comes_out_of_a_file(tmp_path: Path, suffix: str) -> None:
    data = COMPRESS[suffix](b'{"text": "%s"}\n' % (b"x" * 1000) * 150_000)
    assert len(data) < 1 << 20
    path = tmp_path / f"bomb.jsonl{suffix}"
    path.write_bytes(data)
    done = subprocess.run([sys.executable, "-c", BOMB, str(path)], capture_output=True, text=True, check=True)
    rows, grown_mb = map(int, done.stdout.split())
    assert rows == 150_000
    assert grown_mb < 40

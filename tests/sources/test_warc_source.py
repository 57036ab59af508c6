from __future__ import annotations

import ast
import gzip
import random
import subprocess
import sys
import zlib
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.errors import SourceError
from gristmill.sources import Columns, find, split, warc, web_page
from reference.reading import COMPRESS, chunk_rows, pieces, read_path, write
from reference.warc import answer, chunked, members, page, record

HTML = "<html><p>Cối xay — mill</p></html>".encode()
WITH_METADATA = Columns(metadata=("url", "date"))
OTHERS = [
    (record("warcinfo", b"software: x\r\n", Content_Type="application/warc-fields"), "skipped.record_type"),
    (record("request", b"GET / HTTP/1.1\r\n\r\n"), "skipped.record_type"),
    (record("revisit", b"", 7), "skipped.record_type"),
    (record("response", answer(b"\x89PNG", {"Content-Type": "image/png"})), "skipped.content_type"),
    (record("response", b"20080430\n", WARC_Target_URI="dns:mill.example", Content_Type="text/dns"),
     "skipped.content_type"),
]  # fmt: skip


def read_one(tmp_path: Path, data: bytes, columns: Columns = WITH_METADATA) -> dict[str, Any]:
    (row,) = read_path(write(tmp_path, "one.warc", data), columns)
    return row


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_row_for_each_record(tmp_path: Path, suffix: str) -> None:
    records = [page(HTML, number) if number % 3 else OTHERS[number % 5][0] for number in range(30)]
    path = write(tmp_path, "a.warc" + suffix, b"".join(records))
    found = read_path(path, WITH_METADATA)
    starts = [0, *accumulate(map(len, records))]
    assert [row["position"] for row in found] == starts[:-1]
    for number, row in enumerate(found):
        if number % 3:
            assert (row["text"], row["unreadable"], row["id"]) == (HTML, None, f"<urn:uuid:{number}>")
            assert row["metadata"] == f'{{"url": "http://mill.example/{number}", "date": "2026-01-02T03:04:05Z"}}'
        else:
            assert (row["text"], row["unreadable"]) == (None, OTHERS[number % 5][1])
    per_record = tmp_path / "per-record.warc.gz"
    per_record.write_bytes(members(records))
    assert read_path(str(per_record), WITH_METADATA) == found


def test_wet_files_hold_text(tmp_path: Path) -> None:
    data = record("conversion", "văn bản".encode(), Content_Type="text/plain")
    (row,) = read_path(write(tmp_path, "a.warc.wet.gz", data))
    assert row["text"] == "văn bản".encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (page(HTML, WARC_Identified_Payload_Type="text/html"), HTML),
        (page(HTML, WARC_Identified_Payload_Type="application/xhtml+xml"), HTML),
        (page(HTML, WARC_Identified_Payload_Type="application/pdf"), "skipped.content_type"),
        (page(HTML, WARC_Identified_Payload_Type="text/plain"), "skipped.content_type"),
        (record("response", answer(HTML, {"content-TYPE": "Text/HTML ; charset=x"})), HTML),
        (record("response", answer(HTML, {"X": "y"})), HTML),
        (record("response", answer(b" \n<!DOCTYPE html>", {"X": "y"})), b" \n<!DOCTYPE html>"),
        (record("response", answer(b"<htmlx>", {"X": "y"})), "skipped.content_type"),
        (record("response", answer(b"{}", {"X": "y"})), "skipped.content_type"),
        (record("response", answer(HTML, {"Content-Type": "text/html"}, "404 Not Found")), HTML),
        (record("response", HTML), "unreadable.http"),
        (record("response", b"HTTP/1.1 200 OK\r\nContent-Type: text/html"), b""),
        (record("response", HTML, WARC_Target_URI="ftp://a/b", Content_Type="text/html"), HTML),
        (record("conversion", HTML, Content_Type="text/html"), HTML),
        (record("conversion", HTML, Content_Type="image/gif"), "skipped.content_type"),
        (record("response", answer(HTML).replace(b"\r\n", b"\n")), HTML),
        (page(HTML, Folded="a\r\n b"), HTML),
        (page(HTML, WARC_Target_URI="<http://mill.example/>"), HTML),
        (page(b"", 1), b""),
    ],
)  # fmt: skip
def test_what_a_page_is(tmp_path: Path, data: bytes, expected: bytes | str) -> None:
    row = read_one(tmp_path, data)
    assert (row["text"] if row["unreadable"] is None else row["unreadable"]) == expected


def gzipped(data: bytes) -> bytes:
    """Without the time: it would be part of a test's name."""
    return gzip.compress(data, mtime=0)


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"Transfer-Encoding": "chunked"}, chunked(HTML, 7), HTML),
        ({"Transfer-Encoding": "chunked"}, chunked(HTML, 1 << 20), HTML),
        ({"Transfer-Encoding": "chunked"}, HTML, HTML),
        ({"Transfer-Encoding": "chunked"}, b"7\r\n<html><\r\n7\r\np>ab", b"<html><p>ab"),
        ({"Transfer-Encoding": "chunked"}, b"5\r\n<p>ab\r\nno chunk", b"<p>abno chunk"),
        ({"Transfer-Encoding": "chunked"}, b"5\r\n<p>abno end", b"<p>abno end"),
        ({"Transfer-Encoding": "Chunked", "Content-Encoding": "gzip"}, chunked(gzipped(HTML), 9), HTML),
        ({"Content-Encoding": "gzip"}, gzipped(HTML), HTML),
        ({"Content-Encoding": "X-GZIP"}, gzipped(HTML), HTML),
        ({"Content-Encoding": "gzip"}, HTML, HTML),
        ({"Content-Encoding": "gzip"}, gzipped(HTML * 9999)[:-9], HTML * 9999),
        ({"Content-Encoding": "deflate"}, zlib.compress(HTML), HTML),
        ({"Content-Encoding": "deflate"}, raw_deflate(HTML), HTML),
        ({"Content-Encoding": "deflate"}, HTML, HTML),
        ({"Content-Encoding": "br"}, b"\x0b", "skipped.content_encoding"),
        ({"Content-Encoding": "utf-8"}, HTML, HTML),
        ({"Content-Encoding": "gzip"}, gzipped(bytes(web_page.MOST_PAGE_BYTES + 1)), "skipped.too_long"),
    ],
)
def test_bodies_are_unpacked(tmp_path: Path, headers: dict[str, str], body: bytes, expected: bytes | str) -> None:
    row = read_one(tmp_path, record("response", answer(body, {"Content-Type": "text/html", **headers})))
    assert (row["text"] if row["unreadable"] is None else row["unreadable"]) == expected


RUSSIAN = "Мельница стоит на берегу реки, и мельник мелет зерно каждый день, кроме воскресенья. " * 4


@pytest.mark.parametrize("encoding", ["utf-8", "koi8-r", "windows-1251", "utf-16"])
def test_old_encodings_are_told_by_their_look(tmp_path: Path, encoding: str) -> None:
    assert read_one(tmp_path, page(RUSSIAN.encode(encoding)))["text"].decode() == RUSSIAN


def test_what_no_encoding_makes_text_of_is_unreadable(tmp_path: Path) -> None:
    assert read_one(tmp_path, page(bytes(range(256)) * 4))["unreadable"] == "unreadable.charset"


def test_columns(tmp_path: Path) -> None:
    row = read_one(tmp_path, page(HTML, 3), Columns(id="url", metadata=("id",)))
    assert (row["id"], row["metadata"]) == ("http://mill.example/3", '{"id": "<urn:uuid:3>"}')
    row = read_one(tmp_path, page(HTML, WARC_Record_ID="", WARC_Target_URI="", Content_Type="text/html"))
    assert (row["id"], row["metadata"]) == (None, '{"date": "2026-01-02T03:04:05Z"}')
    with pytest.raises(SourceError, match=r"expected a column `body`, found `text`, `id`, `url`, `date`: .*one\.warc"):
        read_one(tmp_path, page(HTML), Columns("body"))


@pytest.mark.parametrize("data", [b'{"text": "x"}\n', b"filedesc://a.arc 0.0.0.0\n", b"\0\0", b"<html>"])
def test_a_foreign_file_is_an_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(SourceError, match=r"expected WARC records, found .* at the start: .*one\.warc\n.*Rename"):
        read_one(tmp_path, data)


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    assert read_path(write(tmp_path, "a.warc", b"")) == []


def test_a_file_of_a_few_bytes(tmp_path: Path) -> None:
    assert verdicts(read_path(write(tmp_path, "a.warc", b"WARC/1.0"))) == [(0, "unreadable.truncated")]


def test_without_its_extra_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_page, "find_spec", lambda name: None)
    with pytest.raises(SourceError, match=r"faust-cchardet.*one\.warc\n.*pip install 'gristmill\[html\]'"):
        read_one(tmp_path, page(HTML))


def verdicts(rows: list[dict[str, Any]]) -> list[tuple[int, str | None]]:
    return [(row["position"], row["unreadable"]) for row in rows]


@pytest.mark.parametrize("cut", [1, 3, 30, 150, 200])
@pytest.mark.parametrize("kind", ["response", "request"])
def test_a_truncated_file(tmp_path: Path, cut: int, kind: str) -> None:
    first, last = page(HTML, 1), record(kind, answer(HTML), 2)
    data = (first + last)[:-cut] if cut > 4 else first + last[: -4 - cut]
    found = read_path(write(tmp_path, "a.warc", data))
    assert verdicts(found) == [(0, None), (len(first), "unreadable.truncated")]
    compressed = tmp_path / "a.warc.gz"
    compressed.write_bytes(gzip.compress(first + last)[:-cut])
    good, bad = read_path(str(compressed))[:-1], read_path(str(compressed))[-1]
    assert bad["unreadable"] == "unreadable.truncated"
    assert all(row["unreadable"] in (None, "skipped.record_type") for row in good)


def test_a_lost_last_line_end_is_no_loss(tmp_path: Path) -> None:
    assert read_one(tmp_path, page(HTML)[:-4])["text"] == HTML


BROKEN = {
    "garbage": b"garbage \r\n\r\n \0\0 WARC/1.0\r\n",
    "no length": page(HTML).replace(b"Content-Length", b"Content-Lengths"),
    "length is no number": page(HTML).replace(b"Content-Length: ", b"Content-Length: x"),
    "no type": page(HTML).replace(b"WARC-Type", b"WARC-Typo"),
    "endless head": b"WARC/1.0\r\n" + b"X: y\r\n" * 20_000,
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_reading_goes_on_behind_what_is_no_record(tmp_path: Path, name: str, suffix: str) -> None:
    first, broken = page(HTML, 1), BROKEN[name]
    path = write(tmp_path, "a.warc" + suffix, first + broken + b"\r\n" + page(HTML, 2) + broken)
    rows = read_path(path, batch_bytes=1 << 12)
    second = len(first) + len(broken) + 2
    expected = [(0, None), (len(first), "unreadable.warc"), (second, None), (second + len(first), "unreadable.warc")]
    assert verdicts(rows) == expected


def test_a_length_that_is_too_short_is_noticed(tmp_path: Path) -> None:
    lying = page(HTML, 1).replace(b"Content-Length: ", b"Content-Length: 0000000")
    lying = lying[: lying.index(b"Content-Length")] + b"Content-Length: 60\r\n\r\n" + answer(HTML) + b"\r\n\r\n"
    rows = read_path(write(tmp_path, "a.warc", lying + page(HTML, 2)))
    assert [row["unreadable"] for row in rows] == [None, "unreadable.warc", None]


parts = st.one_of(
    st.builds(page, st.binary(max_size=90), st.integers(0, 9)),
    st.sampled_from([data for data, _ in OTHERS]),
    st.sampled_from([*BROKEN.values(), b"\r\n", b"\n", b"WARC/1.0\r\n", b"WARC/1.0\r\n\r\n"]),
    st.binary(max_size=20),
    st.builds(lambda data, cut: data[:cut], st.builds(page, st.binary(max_size=90)), st.integers(0, 300)),
)


@settings(max_examples=150)
@given(st.lists(parts, max_size=7), st.integers(1, 400), st.sampled_from(["", ".gz"]), st.sampled_from([64, 1 << 20]))
def test_any_cuts_give_the_same_rows(
    tmp_path_factory: Any, records: list[bytes], step: int, suffix: str, batch_bytes: int
) -> None:
    data = page(HTML) + b"".join(records)
    path = write(tmp_path_factory.getbasetemp(), f"nasty.warc{suffix}", data)
    expected = read_path(path)
    step = max(step, len(data) // 200)
    chunks = pieces(path, range(0, len(data) + step, step))
    found = [chunk_rows(chunk, batch_bytes=batch_bytes) for chunk in chunks]
    assert [row for of_chunk in found for row in of_chunk] == expected
    assert all(row["position"] >= step * number for number, of_chunk in enumerate(found) for row in of_chunk)


BODIES = st.binary(max_size=60).map(lambda body: body.hex().encode() * 3)
ANSWERS = st.one_of(
    BODIES.map(lambda body: answer(body)),
    st.builds(
        lambda body, size: answer(chunked(body, size), {"Transfer-Encoding": "chunked", "Content-Type": "text/html"}),
        BODIES,
        st.integers(1, 100),
    ),
    BODIES.map(lambda body: answer(gzip.compress(body), {"Content-Encoding": "gzip", "content-type": "text/html"})),
    BODIES.map(lambda body: answer(zlib.compress(body), {"Content-Encoding": "deflate", "Content-Type": "text/html"})),
    BODIES.map(lambda body: answer(body, {"Content-Encoding": "gzip", "Content-Type": "text/html"})),
    BODIES.map(lambda body: answer(body, {"Transfer-Encoding": "chunked", "Content-Type": "text/html"})),
)


@given(st.lists(ANSWERS, max_size=5))
def test_reads_what_warcio_reads(tmp_path_factory: Any, answers: list[bytes]) -> None:
    iterator = pytest.importorskip("warcio.archiveiterator").ArchiveIterator
    path = tmp_path_factory.getbasetemp() / "judged.warc.gz"
    path.write_bytes(
        members([record("response", block, number) for number, block in enumerate(answers)] or [page(b"")])
    )
    with path.open("rb") as file:
        expected = [(each.rec_headers["WARC-Record-ID"], each.content_stream().read()) for each in iterator(file)]
    assert [(row["id"], row["text"]) for row in read_path(str(path))] == expected


def test_cuts_of_a_broken_archive_in_any_order(tmp_path: Path) -> None:
    records = [page(HTML * (n % 90), n) if n % 4 else OTHERS[n % 5][0] for n in range(300)]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(members(records)[:-100])
    expected = read_path(str(path))
    assert expected[-1]["unreadable"] == "unreadable.truncated"
    chunks = pieces(str(path), range(0, sum(map(len, records)) + 9999, 9999))
    order = list(range(len(chunks)))
    random.Random(1).shuffle(order)
    found = {number: chunk_rows(chunks[number], batch_bytes=4096) for number in order}
    assert [row for number in sorted(found) for row in found[number]] == expected


def test_a_file_is_cut_where_it_is_large(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(members([page(random.Random(n).randbytes(3000).hex().encode(), n) for n in range(400)]))
    chunks = split(find(str(path)), {}, 1 << 18)
    assert len(chunks) > 5
    ids = [row["id"] for chunk in chunks for row in chunk_rows(chunk)]
    assert ids == [f"<urn:uuid:{number}>" for number in range(400)]


BIG = """
import resource, sys
from gristmill.sources import Columns, find, read, split
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before, rows = 0, []
for chunk in split(find(sys.argv[1]), {}, 1 << 40):
    for batch in read(chunk, Columns(), 1 << 20):
        before = before or peak()
        rows += [row["unreadable"] for row in batch.select(["unreadable"]).to_pylist()]
print(rows, peak() - before)
"""


def test_memory_does_not_grow_with_what_is_passed_over(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.warc.gz", "wb", compresslevel=1) as file:
        file.write(page(HTML) * 2000)
        file.write(record("resource", bytes(300 << 20)))
        file.write(page(bytes(web_page.MOST_PAGE_BYTES + 1)))
        file.write(page(HTML))
        file.write(b"garbage" * (10 << 20))
    done = subprocess.run(
        [sys.executable, "-c", BIG, str(tmp_path / "a.warc.gz")], capture_output=True, text=True, check=True
    )
    reasons, _, grown_mb = done.stdout.rpartition(" ")
    assert ast.literal_eval(reasons)[1999:] == [
        None,
        "skipped.record_type",
        "skipped.too_long",
        None,
        "unreadable.warc",
    ]
    assert int(grown_mb) < 60


def test_finds_what_datatrove_finds(corpora: Path) -> None:
    """Their pages are ours, but for two scripts that libmagic takes for pages, and empty answers, which they drop."""
    readers = pytest.importorskip("datatrove.pipeline.readers")
    pytest.importorskip("warcio")
    theirs = {d.id: d for d in readers.WarcReader(str(corpora), glob_pattern="web.warc.gz").run()}
    ours = {row["id"]: row for row in read_path(str(corpora / "web.warc.gz"), WITH_METADATA) if not row["unreadable"]}
    assert len(ours) == 140
    for id_ in theirs.keys() & ours.keys():
        assert theirs[id_].text.encode() == ours[id_]["text"]
        assert theirs[id_].metadata["url"] in ours[id_]["metadata"]
    only_theirs = [theirs[id_].metadata["url"].rpartition(".")[2] for id_ in theirs.keys() - ours.keys()]
    assert sorted(only_theirs) == ["htc", "js"]
    assert {ours[id_]["text"] for id_ in ours.keys() - theirs.keys()} == {b""}


def test_the_scanner_holds_no_more_than_a_batch_of_pages() -> None:
    found = warc._Found(Columns())
    record = warc._Record({b"warc-type": b"conversion", b"content-type": b"text/plain"}, 0, 0, warc.GOOD)
    while found.has_room():
        found.add(0, record, np.zeros(1 << 20, np.uint8))
    assert len(found.positions) == 8

"""From a crawl to rows: what is no page is counted and minds nobody, what gives no text says why."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from route_inputs import make_recipe, make_texts, packed_digest

from gristmill.drive import run
from gristmill.errors import SourceError
from reference.warc import answer, members, page, record

pytest.importorskip("trafilatura")


def crawl(broken: int = 0) -> bytes:
    """60 pages, 3 of them without text, and for each a request and an image; `broken` records that are none."""
    records: list[bytes] = []
    for number, text in enumerate(make_texts(60, 5)):
        body = f"<html><body><article><p>{text}. {text}.</p><p>{text}</p></article></body></html>"
        records += [
            record("request", b"GET / HTTP/1.1\r\n\r\n", number),
            page(b"<html></html>" if number % 20 == 5 else body.encode(), number),
            record("response", answer(b"GIF89a", {"Content-Type": "image/gif"}), number),
        ]
        if number < broken:
            records.append(b"WARC/1.0\r\n\r\n\r\n")
    return members(records)


def web_recipe(folder: Path, **changes: object) -> dict[str, object]:
    sources = [{"name": "web", "path": str(folder / "crawl.warc.gz"), "metadata_columns": ["url"]}]
    clean = [{"html": {"favour_precision": False, "favour_recall": True, "deduplicate": False}}, "strip", "pii"]
    return make_recipe(folder, sources=sources, clean=clean, filters=[], dedup=[], **changes)


def test_a_crawl_becomes_rows(tmp_path: Path) -> None:
    (tmp_path / "crawl.warc.gz").write_bytes(crawl())
    result = run(web_recipe(tmp_path))
    (entry,) = result.ledger.of("sift")
    assert entry.entered == 180
    skipped = {"skipped.record_type": 60, "skipped.content_type": 60}
    assert {reason: count for reason, count in entry.gone.items() if reason != "html.nothing"} == skipped
    assert entry.gone["html.nothing"] >= 3
    tables = [pq.read_table(path) for path in sorted((tmp_path / "out/sift/web").glob("?????.parquet"))]
    documents = [row for table in tables for row in table.to_pylist()]
    assert [row["id"] for row in documents][:2] == ["<urn:uuid:0>", "<urn:uuid:1>"]
    assert documents[0]["metadata"] == '{"url": "http://mill.example/0"}'
    assert "<p>" not in documents[0]["text"] and documents[0]["text"].startswith("5-0 ")
    assert len(tables) > 1

    other = tmp_path / "other"
    run({**web_recipe(tmp_path, engine={"workers": 2}), "output": {"path": str(other), "chunk": "16kB"}})
    assert packed_digest(other) == packed_digest(tmp_path / "out")


def test_what_is_no_record_does_count_as_unreadable(tmp_path: Path) -> None:
    (tmp_path / "crawl.warc.gz").write_bytes(crawl(broken=10))
    with pytest.raises(SourceError, match=r"found 10 of 190 .*unreadable\.warc 10\n.*crawl\.warc\.gz at \d+"):
        run(web_recipe(tmp_path))

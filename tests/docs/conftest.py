"""The folder that every page's commands are run in: some data, a tokenizer, a finished run."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from markdown_blocks import ROOT, blocks

import gristmill as gm
from gristmill.demo import write_corpus
from gristmill.tokens.train import train


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`data/web/*.jsonl.gz` and `data/wiki.parquet` (made-up pages), `tokenizers/gpt2.json` (a small one of that
    name), `examples/`, `recipe.yaml` (the README's) `out/web`, which it made, and two
    more: `out/code`, `out/padded`."""
    folder = tmp_path_factory.mktemp("world")
    corpus = write_corpus(folder / "made-up", 900)
    (folder / "data/web").mkdir(parents=True)
    texts: list[str] = []
    for source, file in corpus.files.items():
        rows = _rows(file)
        texts += [row["text"] for row in rows]
        if source == "encyclopedia":
            pq.write_table(pa.Table.from_pylist(rows), folder / "data/wiki.parquet")
        else:
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / f"data/web/{source}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), 1, mtime=0))
    (folder / "tokenizers").mkdir()
    (folder / "tokenizers/gpt2.json").write_text(train(iter([pa.array(texts, pa.large_string())]), 1000), "utf-8")
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.rmtree(folder / "made-up")
    recipe = next(block.text for block in blocks((ROOT / "README.md").read_text("utf-8")) if block.language == "yaml")
    (folder / "recipe.yaml").write_text(recipe + "\n", "utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        gm.run("recipe.yaml")
        for name in ("code", "padded"):
            shutil.copytree("out/web", f"out/{name}")
        value = yaml.safe_load(recipe)
        gm.run({**value, "pack": {**value["pack"], "strategy": "padded"}, "output": {"path": "out/padded"}})
    finally:
        os.chdir(before)
    return folder


def _rows(file: Path) -> list[dict[str, str]]:
    """The rows of one of the demo's files, without those that are planted to be unreadable."""
    if file.suffix == ".parquet":
        rows = pq.read_table(file).to_pylist()
    else:
        data = file.read_bytes()
        rows = [_row(line) for line in (gzip.decompress(data) if file.suffix == ".gz" else data).splitlines()]
    texts = ((row, row.get("text")) for row in rows)
    return [row for row, text in texts if isinstance(text, str) and text.encode("utf-8", "ignore").decode() == text]


def _row(line: bytes) -> dict[str, str]:
    try:
        row: dict[str, str] = json.loads(line)
    except ValueError:
        return {}
    return row


@pytest.fixture
def scratch(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, the current one."""
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path

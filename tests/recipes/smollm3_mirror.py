"""A small mirror of the datasets that SmolLM3's recipes name: ROOT/ORG/NAME/CONFIG/0.jsonl.gz, made-up text."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import yaml

from gristmill.demo.language import language
from gristmill.demo.pages import web_page
from gristmill.recipes import read_text
from gristmill.tokens.train import train

WORDS_A_DOCUMENT = 45


def recipe_of(name: str) -> dict[str, Any]:
    """A recipe that ships, as plain data."""
    loaded: dict[str, Any] = yaml.safe_load(read_text(name))
    return loaded


def write_mirror(root: Path, recipe: dict[str, Any], words: dict[str, int]) -> None:
    """So many words for each source of the recipe, every document unlike every other."""
    for number, source in enumerate(recipe["sources"]):
        draw = random.Random(number).random
        spoken = language("vietnamese" if source["name"] == "fw2-vie" else "english")
        folder = root / source["dataset"] / source.get("config", "")
        folder.mkdir(parents=True, exist_ok=True)
        docs = max(6, words[source["name"]] // WORDS_A_DOCUMENT)
        texts = [web_page(spoken, WORDS_A_DOCUMENT, draw) + f"\n{source['name']} {count}" for count in range(docs)]
        lines = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
        (folder / "0.jsonl.gz").write_bytes(gzip.compress(lines.encode(), 1, mtime=0))


def write_tokenizer(path: Path) -> Path:
    """A small BPE for the mirror's text."""
    import pyarrow as pa

    draw = random.Random(0).random
    texts = [web_page(language(name), 2000, draw) for name in ("english", "vietnamese")]
    path.write_text(train(iter([pa.array(texts, pa.large_string())]), 2000), encoding="utf-8")
    return path

"""Real and odd documents for datatrove's pipelines, in four files."""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

pytest.importorskip("datatrove", reason="datatrove is not installed; Gristmill runs without it")
sys.path.insert(0, str(Path(__file__).parent))

from block_twins import write_jsonl

from gristmill.demo import write_corpus

ODD = [
    *(
        " ",
        "\n",
        ".",
        "日本語。",
        "👨\u200d👩\u200d👧",
        "a\r\nb\r\n",
        "a\0b c.",
        "{ } lorem ipsum.",
        "x" * 3000,
        "- " * 300,
    ),
    *("One two three. " * 40, "The end [1] of [edit] it.\n" * 9, "word " * 20 + "y" * 1200 + " end of it."),
    "JavaScript is off.\nWe use cookies here, you know.\n",
]


def _corpus(corpora: Path, characters: int) -> Iterator[dict[str, Any]]:
    for path in sorted(corpora.glob("*.jsonl.*")):
        left = characters
        with (gzip if path.suffix == ".gz" else zstandard).open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                left -= len(row["text"])
                if left < 0:
                    break
                yield {"text": row["text"], "id": str(row["id"]), "lang": row.get("lang")}


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The demo corpus' English pages, odd texts, copies of some, and real documents where there are any."""
    folder = tmp_path_factory.mktemp("demo")
    write_corpus(folder, 150)
    found: list[dict[str, Any]] = []
    for path in sorted(folder.rglob("*.jsonl*")):
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    row = json.loads(line)
                except ValueError:
                    continue  # a planted defect
                if isinstance(row, dict) and isinstance(row.get("text"), str):
                    found.append({"text": row["text"].encode("utf-8", "ignore").decode(), "id": str(len(found))})
    shared = Path(__file__).parents[3] / "shared" / "corpora"
    if shared.is_dir():
        found += _corpus(shared, 12_000)
    found += [{"text": text, "id": f"odd-{number}"} for number, text in enumerate(ODD)]
    rng = random.Random(1)
    found += [{**rng.choice(found), "id": f"copy-{number}"} for number in range(60)]
    rng.shuffle(found)
    return found


@pytest.fixture(scope="session")
def raw(documents: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of four files."""
    return write_jsonl(tmp_path_factory.mktemp("raw") / "files", [documents[start::4] for start in range(4)])

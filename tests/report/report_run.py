"""A run over the demo's texts and some hostile ones, and what its report is asked for."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import gristmill as gm
from gristmill.demo import write_corpus
from gristmill.demo.language import language
from gristmill.demo.pages import web_page

SCRIPT = "</script><script>document.title = 'taken over'</script><img src=x onerror=\"document.title='taken over'\"> "
QUIET = "The harbour was quiet, and nobody on the pier had seen the boats that left before noon. "
DROPPED_WORD = "quixotically"  # of one document only, which is dropped


def recipe(folder: Path, output: str = "out", **changes: Any) -> dict[str, Any]:
    """Over a corpus in `folder`; `changes` replace parts."""
    return {
        "sources": [
            {
                "name": name,
                "path": str(folder / "corpus" / pattern),
                "id_column": "id",
                "weight": weight,
                "max_unreadable_ratio": 0.1,
            }
            for name, pattern, weight in (("web", "web-en*", 0.7), ("hostile", "hostile*", 0.3))
        ],
        "filters": [
            {"length": {"min_characters": 60}},
            {"language": {"keep": ["en"], "threshold": 0.5}},
            {"gopher_repetition": {}},
            {"spam": {}},
        ],
        "dedup": ["exact", "minhash"],
        "tokenizer": {"train": {"vocab_size": 600, "sample": "200kB"}},
        "mixture": {"seed": 1},
        "pack": {"strategy": "best_fit", "sequence_length": 256},
        "output": {"path": str(folder / output)},
        "engine": {"workers": 1},
        **changes,
    }


def write_texts(folder: Path) -> None:
    """The corpus: a few hundred pages, and some with markup in text and id."""
    write_corpus(folder / "corpus", documents=400)
    draw = random.Random(1).random
    texts = [web_page(language("english"), 60 + 5 * number, draw) for number in range(60)]
    rows = [{"id": f"<b>{n}</b>", "text": f"{SCRIPT}{text}\nNumber {n}."} for n, text in enumerate(texts)]
    rows.append({"id": "short", "text": f"Too {DROPPED_WORD} short."})
    rows.append({"id": "spam", "text": SCRIPT + QUIET + "Buy now, click here!"})
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "corpus" / "hostile.jsonl").write_text(lines)


def run(folder: Path, output: str = "out", **changes: Any) -> Path:
    """Carry it out; returns the output folder."""
    return gm.run(recipe(folder, output, **changes)).path

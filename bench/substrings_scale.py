"""Substring deduplication of a gigabyte under 2 GB: seconds, MB/s, peak memory, and what lies on disk.

    python bench/substrings_scale.py [--corpora DIR] [--bytes 1000000000] [--workers 2] [--memory 2GB] [--folder DIR]

The text is generated from real sentences, drawn at random, so nearly every sentence occurs many times, but seldom 200
bytes in a row; into every twentieth document a passage of an earlier one is planted. That is harsher than real text:
most keys are shared by several contexts. Time is of sift and dedup together, processes of the tree together for memory.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from pathlib import Path

import corpora
from measure import measure

HERE = Path(__file__).parent
ENGLISH = ("english-prose.parquet", "english-docs.jsonl.gz", "mail-en.jsonl.zst")
FILE_BYTES = 128 << 20
PLANTED_CHARACTERS = (300, 3000)
KEPT_DOCUMENTS = 1000  # of which passages are planted


def sentences(folder: Path) -> list[str]:
    """Real sentences of 20 to 400 characters, each once."""
    found: dict[str, None] = {}
    for name in ENGLISH:
        for text in corpora.texts(folder / name):
            found.update(dict.fromkeys(s for s in re.split(r"(?<=[.!?])\s+", text) if 20 <= len(s) <= 400))
    return list(found)


def write_input(folder: Path, pool: list[str], wanted_bytes: int) -> int:
    """JSONL files of documents of 5 to 40 sentences; returns the bytes of text."""
    rng = random.Random(1)
    kept: list[str] = []
    written = number = 0
    while written < wanted_bytes:
        with open(folder / f"{number:05}.jsonl", "w", encoding="utf-8") as out:
            file_bytes = 0
            while file_bytes < FILE_BYTES and written < wanted_bytes:
                text = " ".join(rng.choices(pool, k=rng.randint(5, 40)))
                if kept and rng.random() < 0.05:
                    other = rng.choice(kept)
                    text += " " + other[rng.randrange(len(other)) :][: rng.randint(*PLANTED_CHARACTERS)]
                if len(kept) < KEPT_DOCUMENTS:
                    kept.append(text)
                file_bytes += out.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
                written += len(text.encode())
        number += 1
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        folder = Path(scratch)
        (folder / "in").mkdir()
        text_bytes = write_input(folder / "in", sentences(options.corpora), options.bytes)
        recipe = folder / "recipe.yaml"
        recipe.write_text(
            json.dumps(
                {
                    "sources": [{"name": "web", "path": str(folder / "in" / "*.jsonl")}],
                    "clean": [],
                    "dedup": ["substrings"],
                    "tokenizer": {"path": str(options.tokenizer)},
                    "pack": {"sequence_length": 2048},
                    "output": {"path": str(folder / "out")},
                    "engine": {"workers": options.workers, "memory": options.memory},
                }
            )
        )
        run = measure([sys.executable, str(HERE / "up_to_dedup.py"), str(recipe)])
        disk_bytes = sum(path.stat().st_size for path in (folder / "out" / "dedup").rglob("*") if path.is_file())
        print(run.output.rstrip())
    print(
        f"{text_bytes / 1e6:,.0f} MB, {options.workers} workers: {run.seconds:.1f} s, "
        f"{text_bytes / 1e6 / run.seconds:.1f} MB/s, {run.peak_bytes / 1e6:,.0f} MB peak memory, "
        f"{disk_bytes / 1e6:,.0f} MB in dedup/"
    )


if __name__ == "__main__":
    main()

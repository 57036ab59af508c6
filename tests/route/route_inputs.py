"""Small inputs for the route's tests: sources of made-up text and a recipe that reads them."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

WORDS = [
    "mill",
    "grain",
    "stone",
    "water",
    "wheel",
    "flour",
    "sack",
    "river",
    "wind",
    "bread",
    "cối",
    "xay",
    "nước",
    "gạo",
]

SHARED_TEXT = "what the mill by the river grinds in a year of water and wind is more than bread for all who live there"


def make_texts(count: int, seed: int) -> list[str]:
    """Texts of 5 to 120 words; every tenth is a copy of the one five before, every fifteenth is short."""
    rng = random.Random(seed)
    texts: list[str] = []
    for number in range(count):
        if number % 10 == 9:
            texts.append("  " + texts[number - 5] + "\n")
        elif number % 15 == 14:
            texts.append("short")
        else:
            texts.append(f"{seed}-{number} " + " ".join(rng.choices(WORDS, k=rng.randint(20, 120))))
    return texts


def write_jsonl(path: Path, texts: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"text": text, "name": f"{path.stem}-{n}"}, ensure_ascii=False) for n, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def make_recipe(folder: Path, **changes: Any) -> dict[str, Any]:
    """Two sources of a few hundred documents, a trained tokenizer, all stages."""
    for name, count, seed in (("one", 300, 1), ("two", 200, 2)):
        path = folder / "raw" / f"{name}.jsonl"
        if not path.exists():
            write_jsonl(path, make_texts(count, seed))
    recipe: dict[str, Any] = {
        "sources": [
            {"name": "one", "path": str(folder / "raw" / "one.jsonl"), "weight": 0.7},
            {"name": "two", "path": str(folder / "raw" / "two.jsonl"), "weight": 0.3},
        ],
        "filters": [{"length": {"min_characters": 20}}],
        "dedup": ["exact"],
        "tokenizer": {"train": {"vocab_size": 400, "sample": "1MB"}},
        "mixture": {"seed": 3},
        "pack": {"strategy": "best_fit", "sequence_length": 128, "window": 2000},
        "output": {"path": str(folder / "out"), "chunk": "16kB"},
        "engine": {"workers": 0, "memory": "1GB"},
    }
    for key, change in changes.items():
        old = recipe.get(key)
        recipe[key] = {**old, **change} if isinstance(old, dict) and isinstance(change, dict) else change
    return recipe


def packed_digest(output: Path) -> str:
    """SHA-256 over the names and bytes of the packed output: rows, manifest and tokenizer, not the records."""
    digest = hashlib.sha256()
    names = [path for path in sorted((output / "pack").iterdir()) if path.suffix == ".arrow"]
    for path in [*names, output / "pack" / "manifest.json", output / "pack" / "tokenizer.json"]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def folder_digest(folder: Path) -> str:
    """SHA-256 over the names and bytes of all files below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()

"""The same documents for all four ways: texts of a toy language, its tokenizer, and packs of both kinds."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

from reference.loader import Part, Row, layout, wrapped_rows, write_pack

LENGTH = 16
EOS = 0
WORDS = [f"w{number}" for number in range(40)]


def documents(count: int, seed: int = 1) -> list[list[int]]:
    """Ids of documents of 1 to 40 words, with EOS: some longer than two rows."""
    rng = random.Random(seed)
    return [[rng.randrange(1, 41) for _ in range(rng.choice([1, 5, 9, 40]))] + [EOS] for _ in range(count)]


def texts(ids: list[list[int]]) -> list[str]:
    return [" ".join(WORDS[token - 1] for token in document[:-1]) for document in ids]


def write_tokenizer(path: Path) -> Path:
    vocab = {"<eos>": EOS, **{word: number for number, word in enumerate(WORDS, 1)}}
    model = {"type": "WordLevel", "vocab": vocab, "unk_token": "<eos>"}
    path.write_text(json.dumps({"model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}}))
    return path


def padded_rows(ids: list[list[int]]) -> list[Row]:
    return [
        [Part(0, number, at, document[at : at + LENGTH])]
        for number, document in enumerate(ids)
        for at in range(0, len(document), LENGTH)
    ]


def write_packs(root: Path, ids: list[list[int]]) -> dict[str, Path]:
    """A pack of each strategy, with the tokenizer in it."""
    folders = {}
    for strategy, rows in (("padded", padded_rows(ids)), ("wrapped", wrapped_rows(ids, LENGTH))):
        folders[strategy] = root / strategy
        write_pack(root / strategy, rows, replace(layout(LENGTH), strategy=strategy))
        write_tokenizer(root / strategy / "tokenizer.json")
    return folders

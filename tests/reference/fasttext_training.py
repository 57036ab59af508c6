"""Small fastText models of every kind, trained on made-up text. Needs the package fasttext."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

SYLLABLES = ["ba", "ko", "ri", "nu", "sha", "đi", "жу", "日本", "語", "é", "ß", "😀", "x"]

# Name → parameters of training, parameters of quantising (None: a .bin). Dimensions are multiples of ten and so
# are threads: each of ten threads fills a tenth of fastText's matrix, and what is left holds what the memory held: NaN.
MODELS: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "words": ({"loss": "softmax", "dim": 10, "minCount": 2}, None),
    "bigrams": ({"loss": "softmax", "wordNgrams": 2, "bucket": 3000, "dim": 160}, None),
    "tree": ({"loss": "hs", "minn": 2, "maxn": 4, "bucket": 20000, "dim": 20}, None),
    "everything": ({"loss": "ova", "wordNgrams": 3, "minn": 1, "maxn": 3, "bucket": 7919, "dim": 30}, None),
    "long ngrams": ({"loss": "ns", "minn": 0, "maxn": 6, "bucket": 50000, "dim": 20}, None),
    "one bucket": ({"loss": "softmax", "minn": 3, "maxn": 3, "bucket": 1, "dim": 10}, None),
    "many labels": ({"loss": "hs", "minn": 2, "maxn": 3, "bucket": 4000, "dim": 40, "labels": 300}, None),
    "one label": ({"loss": "hs", "dim": 10, "labels": 1}, None),
    "packed tree": ({"loss": "hs", "minn": 2, "maxn": 4, "bucket": 20000, "dim": 20}, {"cutoff": 600, "qnorm": True}),
    "packed, nothing pruned": ({"loss": "softmax", "minn": 2, "maxn": 2, "bucket": 500, "dim": 50}, {"dsub": 2}),
    "packed, retrained": (
        {"loss": "softmax", "wordNgrams": 2, "minn": 3, "maxn": 5, "bucket": 9000, "dim": 10},
        {"cutoff": 300, "retrain": True, "dsub": 4},
    ),
    "packed, no ngram left": ({"loss": "softmax", "wordNgrams": 2, "bucket": 900, "dim": 10}, {"cutoff": 257}),
    "packed output": (
        {"loss": "softmax", "minn": 2, "maxn": 3, "bucket": 4000, "dim": 40, "labels": 300},
        {"qout": True, "qnorm": True, "cutoff": 1000},
    ),
}


def write_training_text(path: Path, labels: int) -> None:
    """Lines whose words tell their label, some of them in many lines, most in few."""
    chance = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(max(400, 3 * labels)):
            label = number % labels if number < 2 * labels else int(labels * chance.random() ** 2)
            words = [
                "".join(chance.choice(SYLLABLES[label % 7 :]) for _ in range(chance.randint(1, 4)))
                for _ in range(chance.randint(1, 12))
            ]
            file.write(f"__label__l{label}_x {' '.join(words)}\n")


def train(name: str, folder: Path) -> Path:
    """The file of one of MODELS, trained at its first use."""
    fasttext = pytest.importorskip("fasttext", reason="fastText, which trains and judges, is not installed")
    parameters, packing = MODELS[name]
    parameters = dict(parameters)
    path = folder / f"{name}.{'ftz' if packing is not None else 'bin'}"
    if not path.exists():
        text = folder / f"{name}.txt"
        write_training_text(text, parameters.pop("labels", 5))
        model = fasttext.train_supervised(str(text), thread=10, epoch=20, lr=0.2, verbose=0, **parameters)
        if packing is not None:
            again = {"epoch": 2, "lr": 0.1, "thread": 10} if packing.get("retrain") else {}
            model.quantize(input=str(text), verbose=0, **again, **packing)
        model.save_model(str(path))
    return path

"""krill's `preprocess`, step by step, in memory: the slow twin of compat/krill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import datasets


@dataclass
class Prepared:
    """The rows, and what went on the way."""

    rows: list[list[int]]
    dropped_by_length: int
    dropped_tail: int


def prepare(
    parts: Sequence[tuple[str, str, str]], tokenizer: Any, eos_id: int | None, min_length: int, sequence_len: int
) -> Prepared:
    """`parts` are path, split and text column; `tokenizer` is one of `tokenizers`."""
    loaded = []
    for path, split, column in parts:
        if path.endswith(".jsonl"):
            part = datasets.load_dataset("json", data_files=path, split=split)
        else:
            part = datasets.load_dataset(path, split=split)
        if column != "text":
            part = part.remove_columns([name for name in part.column_names if name != column])
            part = part.rename_column(column, "text")
        loaded.append(part.select_columns(["text"]))
    seen = set()
    kept = []
    for row in datasets.concatenate_datasets(loaded):
        text = clean(row["text"])
        if len(text) >= 100 and text not in seen:
            seen.add(text)
            kept.append(text)
    encoded = [tokenizer.encode(text).ids + ([] if eos_id is None else [eos_id]) for text in kept]
    long_enough = [ids for ids in encoded if len(ids) >= min_length]
    stream = [token for ids in long_enough for token in ids]
    full = len(stream) // sequence_len
    rows = [stream[number * sequence_len : (number + 1) * sequence_len] for number in range(full)]
    return Prepared(rows, sum(map(len, encoded)) - len(stream), len(stream) - full * sequence_len)


def clean(text: Any) -> str:
    if not isinstance(text, str):
        return ""
    return text.strip().encode("utf-8", "ignore").decode("utf-8", "ignore")

"""krill's `preprocess` in memory, by `datasets`, `transformers` and TRL: the slow twin of compat/krill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
from transformers import PreTrainedTokenizerFast
from trl import pack_dataset


@dataclass
class Prepared:
    """The rows, and what went on the way."""

    rows: list[list[int]]
    dropped_by_length: int
    dropped_tail: int


def tokenizer_at(place: str, eos_token: str | None) -> Any:
    """A folder as `save_pretrained` leaves it, or a tokenizer.json alone, of which nobody knows the EOS."""
    if Path(place).is_dir():
        return PreTrainedTokenizerFast.from_pretrained(place)
    return PreTrainedTokenizerFast(tokenizer_file=place, eos_token=eos_token)


def prepare(parts: Sequence[tuple[str, str, str]], tokenizer: Any, min_length: int, sequence_len: int) -> Prepared:
    """`parts` are path, split and text column."""
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
    whole = datasets.concatenate_datasets(loaded).map(lambda row: {"text": clean(row["text"])})
    seen: set[str] = set()

    def is_new(row: dict[str, Any]) -> bool:
        if len(row["text"]) < 100 or row["text"] in seen:
            return False
        seen.add(row["text"])
        return True

    def encode(rows: dict[str, Any]) -> dict[str, Any]:
        eos = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
        return {"input_ids": [ids + eos for ids in tokenizer(rows["text"])["input_ids"]]}

    encoded = whole.filter(is_new).map(encode, batched=True, remove_columns=["text"])
    long_enough = encoded.filter(lambda row: len(row["input_ids"]) >= min_length)
    packed = pack_dataset(long_enough, sequence_len, "wrapped", {"batch_size": len(long_enough)})["input_ids"][:]
    rows = [row for row in packed if len(row) == sequence_len]
    assert all(len(row) == sequence_len for row in packed[:-1])
    tokens = sum(map(len, long_enough["input_ids"][:]))
    dropped = sum(map(len, encoded["input_ids"][:])) - tokens
    return Prepared(rows, dropped, tokens - len(rows) * sequence_len)


def clean(text: Any) -> str:
    if not isinstance(text, str):
        return ""
    return text.strip().encode("utf-8", "ignore").decode("utf-8", "ignore")

"""What krill prints of a prepared dataset: what was dropped and why, rows, tokens, a check, samples."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from rich.console import Console

from gristmill.engine.ledger import Entry, Ledger
from gristmill.formats import hf_dataset

_SHOWN_CHARACTERS = 1000


def print_dropped(ledger: Ledger, console: Console) -> None:
    """Documents from the input to the length filter, and tokens from there to the rows."""
    documents = [entry for entry in ledger.of("tokenize") if entry.unit == "documents"]
    tokens = [entry for entry in ledger.of("tokenize") if entry.unit == "tokens"]
    read, left = _sum(ledger.of("sift"), "entered"), _sum(documents, "entered")
    filtered, short_tokens = _sum(documents, "left"), _gone(tokens, "min_tokens")
    lines = (
        f"Documents: {read:,} read, {left:,} left after cleaning, 100 characters and deduplication",
        f"Rows before the length filter: {left:,}, after it: {filtered:,}; tokens dropped by it: {short_tokens:,}",
        f"Tokens dropped with the last, short row: {_gone(ledger.of('pack'), 'cropped'):,}",
    )
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)


def print_dataset(folder: Path, tokenizer: Any, console: Console, samples: int) -> None:
    """Rows, tokens, whether all rows are of one length, and the first rows decoded."""
    rows_of: Counter[int] = Counter()
    shown: list[list[int]] = []
    columns: list[str] = []
    for batch in hf_dataset.read_batches(folder):
        columns = batch.schema.names
        ids = batch.column("input_ids")
        for item in pc.value_counts(pc.list_value_length(ids)).to_pylist():
            rows_of[item["values"]] += item["counts"]
        if len(shown) < samples:
            shown += ids.slice(0, samples - len(shown)).to_pylist()
    tokens = sum(length * rows for length, rows in rows_of.items())
    counted = f"Rows: {sum(rows_of.values()):,}, total tokens: {tokens:,}, columns: {', '.join(columns)}"
    lengths = ", ".join(f"{rows:,} of {length:,} tokens" for length, rows in sorted(rows_of.items())) or "no rows"
    checked = f"Row lengths {'are all the same' if len(rows_of) == 1 else 'DIFFER'}: {lengths}"
    for line in (counted, checked):
        console.print(line, highlight=False, soft_wrap=True)
    for number, row in enumerate(shown):
        console.print(f"Sample, row {number:,}:", style="bold")
        text = tokenizer.decode(row, skip_special_tokens=False)
        console.print(text[:_SHOWN_CHARACTERS], markup=False, highlight=False, soft_wrap=True)


def _sum(entries: list[Entry], field: str) -> int:
    return sum(getattr(entry, field) for entry in entries)


def _gone(entries: list[Entry], reason: str) -> int:
    return sum(entry.gone.get(reason, 0) for entry in entries)

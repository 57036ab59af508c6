from __future__ import annotations

from pathlib import Path

from rich.console import Console

import gristmill as gm
from gristmill.engine.ledger import Ledger
from gristmill.report.signals import print_signals, rule_books


def run_with_bounds(folder: Path) -> gm.Result:
    texts = ["a", "aa bb", "ccc", "dddd dddd dddd", "e" * 50]
    file = folder / "raw.jsonl"
    file.write_text("".join(f'{{"text": "{text}"}}\n' for text in texts))
    return gm.run(
        {
            "sources": [{"name": "raw", "path": str(file)}],
            "filters": [{"length": {"min_characters": 3, "max_words": 2}}, {"length": {"max_bytes": 20}}],
            "tokenizer": {"train": {"vocab_size": 300, "sample": "1MB"}},
            "pack": {"sequence_length": 8},
            "output": {"path": str(folder / "out")},
            "engine": {"workers": 0},
        }
    )


def test_each_rule_has_its_book(tmp_path: Path) -> None:
    books = rule_books(run_with_bounds(tmp_path).ledger)
    assert {name: (book.broken, book.alone) for name, book in books.items()} == {
        "length.min_characters": (1, 1),
        "length.max_words": (1, 1),
        "length_2.max_bytes": (1, 1),
    }
    assert books["length.min_characters"].signal == "length.characters"
    assert (books["length.min_characters"].minimum, books["length.min_characters"].maximum) == (3, None)
    assert books["length_2.max_bytes"].signal == "length_2.bytes"
    assert sum(books["length.max_words"].histogram.values()) == 5


def test_the_table_shows_bounds_and_drops(tmp_path: Path) -> None:
    console = Console(record=True, width=160, force_terminal=False)
    print_signals(run_with_bounds(tmp_path).ledger, console)
    lines = {line.split()[1]: line for line in console.export_text().splitlines() if line.startswith("│")}
    assert "from 3" in lines["length.min_characters"]
    assert "to 20" in lines["length_2.max_bytes"]
    assert "█" in lines["length.max_words"]


def test_nothing_without_filters() -> None:
    console = Console(record=True)
    print_signals(Ledger(), console)
    assert console.export_text() == ""

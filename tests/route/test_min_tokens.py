from __future__ import annotations

from pathlib import Path

import pytest
from route_inputs import make_recipe

from gristmill.drive import run
from gristmill.errors import LedgerError
from gristmill.formats.token_shard import TokenShard


def lengths(output: Path) -> list[int]:
    shards = sorted((output / "tokenize").rglob("*.arrow"))
    return [length for path in shards for length in TokenShard.open(path).lengths.tolist()]


def test_short_documents_go_and_the_ledger_says_so(tmp_path: Path) -> None:
    all_lengths = lengths(run(make_recipe(tmp_path)).path)
    bound = sorted(all_lengths)[len(all_lengths) // 3]
    result = run(make_recipe(tmp_path, tokenizer={"min_tokens": bound}))
    assert sorted(lengths(result.path)) == sorted(length for length in all_lengths if length >= bound)
    short = [length for length in all_lengths if length < bound]
    gone = {"documents": len(short), "tokens": sum(short)}
    entries = result.ledger.of("tokenize")
    for unit, expected in gone.items():
        assert sum(entry.gone["min_tokens"] for entry in entries if entry.unit == unit) == expected > 0


def test_when_all_are_too_short_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"tokenize: expected some .* found none.*min_tokens"):
        run(make_recipe(tmp_path, tokenizer={"min_tokens": 10_000}))

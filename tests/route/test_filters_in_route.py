"""Filters of every kind in a recipe: users' own, those that look at other columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from route_inputs import make_recipe

import gristmill as gm


@dataclass(frozen=True)
class NoWord:
    word: str

    def verdict(self, text: str) -> str | None:
        return f"has_{self.word}" if self.word in text else None


def test_a_users_own_filter(tmp_path: Path) -> None:
    own = f"{__name__}:NoWord"
    first = gm.run(make_recipe(tmp_path, filters=[{own: {"word": "cối"}}])).ledger.of("sift")[0]
    assert first.gone.keys() == {"NoWord.has_cối"}
    assert first.details["rules"]["NoWord.has_cối"]["alone"] == first.gone["NoWord.has_cối"] > 0
    changed = gm.run(make_recipe(tmp_path, filters=[{own: {"word": "gạo"}}])).ledger.of("sift")[0]
    assert changed.gone.keys() == {"NoWord.has_gạo"}


def test_filters_of_urls_ids_and_phrases(tmp_path: Path) -> None:
    """Their signals are kept as columns, the phrase that was found first too, and changed bounds read no text."""
    rows = [
        {"id": str(n), "text": f"{n} {'Mua ngay, mua ngay!' if n % 4 == 0 else 'mill grain'} stone", "url": url}
        for n in range(100)
        for url in [f"http://{'bad' if n % 10 == 0 else 'good'}.com/{n}"]
    ]
    source = tmp_path / "raw.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    filters = [{"url": {"domains": ["bad.com"]}}, {"spam": {"max_hits": 1}}, {"sample": {"rate": 0.5}}]
    recipe = make_recipe(tmp_path, filters=filters, sources=[{"name": "one", "path": str(source), "id_column": "id"}])
    first = gm.run(recipe).ledger.of("sift")[0]
    kept = gm.filters.Sample(0.5).verdicts([str(n) for n in range(100)]).is_null().to_pylist()
    assert first.gone == {
        "url.domain": 10,
        "spam.phrase": 20,
        "sample.not_drawn": sum(not kept[n] for n in range(100) if n % 10 and n % 4),
    }
    signals = pq.read_table(tmp_path / "out/sift/one/00000.signals.parquet")
    phrases = signals["spam.first_phrase"].cast("string").to_pylist()
    assert phrases == ["mua ngay" if n % 4 == 0 else None for n in range(100)]
    source_changed = {**recipe, "filters": [filters[0], {"spam": {"max_hits": 2}}, {"sample": {"rate": 1}}]}
    before = (tmp_path / "out/sift/one/00000.signals.parquet").stat().st_mtime_ns
    assert gm.run(source_changed).ledger.of("sift")[0].gone == {"url.domain": 10}
    assert (tmp_path / "out/sift/one/00000.signals.parquet").stat().st_mtime_ns == before

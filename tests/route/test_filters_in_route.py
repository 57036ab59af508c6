"""Filters of every kind in a recipe: users' own, those that look at other columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from route_inputs import make_recipe, packed_digest, write_jsonl

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


def pages(name: str, count: int) -> list[str]:
    """Pages of one to six sentences, each with a menu, and a citation in every line."""
    sentences = [f"The mill of {name}{number} grinds[1] grain.\n" * (number % 6 + 1) for number in range(count)]
    return ["Home | About\n" + lines for lines in sentences]


def written_pages(folder: Path) -> None:
    for name, count in (("one", 120), ("two", 90)):
        write_jsonl(folder / "raw" / f"{name}.jsonl", pages(name, count))


def sifted_texts(output: Path, source: str) -> list[str]:
    """Of the documents that are kept."""
    texts: list[str] = []
    for path in sorted((output / "sift" / source).glob("*.parquet")):
        if path.name.count(".") == 1:
            texts += pq.read_table(path)["text"].to_pylist()
    return texts


def test_a_filter_that_rewrites_leaves_its_text_and_judges_again_without_reading(tmp_path: Path) -> None:
    written_pages(tmp_path)
    recipe = make_recipe(tmp_path, filters=[{"c4_quality": {"min_sentences": 6}}, {"length": {"min_words": 5}}])
    first = gm.run(recipe)
    assert first.ledger.of("sift")[0].gone == {"c4_quality.too_few_sentences": 100}
    texts = sifted_texts(first.path, "one")
    assert texts[0] == "\n".join(["The mill of one5 grinds grain."] * 6)

    sifted = {path: path.stat().st_mtime_ns for path in (first.path / "sift").rglob("*.parquet")}
    recipe["filters"][0] = {"c4_quality": {"min_sentences": 4}}
    changed = gm.run(recipe)
    assert changed.ledger.of("sift")[0].gone == {"c4_quality.too_few_sentences": 60}
    assert {path: path.stat().st_mtime_ns for path in (first.path / "sift").rglob("*.parquet")} == sifted
    recipe["output"] = {**recipe["output"], "path": str(tmp_path / "afresh")}
    assert packed_digest(gm.run(recipe).path) == packed_digest(changed.path)


def test_bad_words_by_the_language_in_the_metadata(tmp_path: Path) -> None:
    for source in ("one", "two"):
        rows = [
            {"text": f"{number} Darn {source}, 上下文" + " and so on" * 9, "language": "ja" if number % 3 else "en"}
            for number in range(60)
        ]
        path = tmp_path / "raw" / f"{source}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    words = tmp_path / "words.txt"
    words.write_text("darn\n", encoding="utf-8")

    def dropped(**lists: object) -> dict[str, int]:
        recipe = make_recipe(tmp_path, filters=[{"bad_words": {"lists": lists}}])
        return dict(gm.run(recipe).ledger.of("sift")[0].gone)

    assert dropped(en=str(words), ja=["下流"]) == {"bad_words.document_removed_with_badwords": 20}
    words.write_text("damn\n", encoding="utf-8")
    assert dropped(en=str(words), ja=["下"]) == {"bad_words.document_removed_with_badwords": 40}

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from gristmill.recipe import Recipe
from gristmill.report.duplicates import common_parts, print_clusters, print_curves, print_duplicates

sys.path.insert(0, str(Path(__file__).parents[1] / "route"))
from dedup_route import dedup_recipe, run_dedup
from route_inputs import write_jsonl

TEXTS = [
    "one two three four five six seven eight nine ten",
    "something else that stands alone",
    "one two three FOUR five six seven eight nine ten",
    "one two three four five six seven eight nine ten",
]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("duplicates")
    write_jsonl(folder / "raw" / "one.jsonl", TEXTS)
    run_dedup(dedup_recipe(folder, ["exact", {"minhash": {"ngram": 2}}], filters=[]))
    return folder / "out"


def printed(show: object, *arguments: object, **more: object) -> str:
    console = Console(file=io.StringIO(), width=200)
    show(*[console if argument is Console else argument for argument in arguments], **more)  # type: ignore[operator]
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_pairs_stand_beside_each_other(output: Path) -> None:
    text = printed(print_duplicates, output, Console, rows=1)
    assert "Pair 0, exact: 100% of the words in common" in text
    assert f"⟦goes: one/00000/3 (one, chunk 0, row 3)⟧ {TEXTS[3]}" in text
    assert f"⟦stays: one/00000/0 (one, chunk 0, row 0)⟧ {TEXTS[0]}" in text
    text = printed(print_duplicates, output, Console, rows=9, first=1)
    assert "Pair 1, minhash: 90% of the words in common" in text


def test_no_more_pairs(output: Path) -> None:
    assert "There are no more than 900 duplicates" in printed(print_duplicates, output, Console, rows=1, first=900)


def test_what_is_common_is_marked() -> None:
    one, other, share = common_parts("a b c d", "a b x d")
    assert share == 0.75
    assert [part for part in one if part[0]] == [("a b", True), (" c", False), (" d", True)]
    assert [part for part in other if part[0]] == [("a b", True), (" x", False), (" d", True)]


def test_long_texts_are_cut_for_comparing() -> None:
    one, other, share = common_parts("word " * 100_000, "word " * 100_001)
    assert share == 1.0
    assert sum(len(part) for part, _ in one) == sum(len(part) for part, _ in other) < 5_000


def test_clusters_by_size(output: Path) -> None:
    text = printed(print_clusters, output, Console)
    assert "Clusters of exact" in text and "Clusters of minhash" in text
    assert "2 like one/00000/0 (one, chunk 0, row 0): one two three" in text


def test_the_curve_is_shown(output: Path, tmp_path: Path) -> None:
    recipe = Recipe.from_dict(dedup_recipe(tmp_path, ["exact", {"minhash": {}}, {"minhash": {"similarity": 0.9}}]))
    text = printed(print_curves, recipe, Console)
    assert "minhash, 14 buckets of 8 hashes, finds: 5% at 0.5, 21% at 0.6, 56% at 0.7" in text
    assert "minhash, 8 buckets of 16 hashes, finds: 0.00012 at 0.5" in text

"""Sift and dedup only, over a made-up corpus whose duplicates are known: the first two stages of the route."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml
from route_inputs import make_recipe, write_jsonl

from gristmill.drive import Silent
from gristmill.engine.ledger import Ledger
from gristmill.engine.local import LocalEngine, Observer
from gristmill.formats import files
from gristmill.recipe import Recipe
from gristmill.route.steps import steps_of

Document = tuple[str, int]  # source, number of its row over all chunks


def made_word(rng: random.Random) -> str:
    """One of a few thousand; of letters, because all numbers are one to MinHash."""
    return "".join(rng.choices("bdgklmnprstz", k=2)) + "".join(rng.choices("aeiou", k=2))


def near_duplicates(count: int, seed: int) -> list[str]:
    """Texts of 60 to 90 words; every fourth is the one three before with one word changed."""
    rng = random.Random(seed)
    texts: list[str] = []
    for number in range(count):
        if number % 4 == 3:
            words = texts[number - 3].split()
            words[rng.randrange(len(words))] = "changed"
            texts.append(" ".join(words))
        else:
            count_words = rng.randint(60, 90)
            texts.append(" ".join(made_word(rng) for _ in range(count_words)))
    return texts


def dedup_recipe(folder: Path, dedup: list[Any], **changes: Any) -> dict[str, Any]:
    for name, count, seed in (("one", 240, 1), ("two", 120, 2)):
        path = folder / "raw" / f"{name}.jsonl"
        if not path.exists():
            write_jsonl(path, near_duplicates(count, seed))
    return make_recipe(folder, dedup=dedup, **changes)


def run_dedup(recipe: dict[str, Any], observer: Observer | None = None) -> Ledger:
    """The route up to and without its first step behind dedup; what it would do at its end is not done."""
    checked = Recipe.from_dict(recipe)
    output = Path(checked.output.path)
    output.mkdir(parents=True, exist_ok=True)
    files.sweep(output)
    (output / "recipe.yaml").write_text(yaml.safe_dump(checked.to_dict()))
    ledger = Ledger()
    assert isinstance(checked.engine.workers, int)
    with LocalEngine(output, checked.engine.workers, observer or Silent()) as engine:
        route = steps_of(checked, output, checked.engine.workers, ledger)
        steps = next(route)
        while steps[0].name.split("/")[0] in ("sift", "judge", "dedup"):
            steps = route.send(engine.run(steps))
    return ledger


def drops_of(output: Path, unit: str) -> dict[Document, Document | None]:
    """Who goes → who stays for it, rows counted over all chunks of a source; None: not one of these documents."""
    firsts: dict[tuple[str, int], int] = {}
    for source in sorted(path for path in (output / "sift").iterdir()):
        row = 0
        for number, path in enumerate(sorted(source.glob("*.signals.parquet"))):
            firsts[source.name, number] = row
            row += pq.read_metadata(path).num_rows
    found: dict[Document, Document | None] = {}
    for path in sorted((output / "dedup" / unit).glob("*/*.parquet")):
        for drop in pq.read_table(path).to_pylist():
            survivor = drop["survivor_source"]
            stays = (survivor, firsts[survivor, drop["survivor_chunk"]] + drop["survivor_row"]) if survivor else None
            found[path.parent.name, firsts[path.parent.name, int(path.stem)] + drop["row"]] = stays
    return found

"""The starter recipes, run without a network on stand-ins for their hub datasets."""

from __future__ import annotations

import gzip
import json
import random
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import zstandard

import gristmill as gm
from gristmill import recipe_changes as changes
from gristmill.demo.language import language
from gristmill.demo.pages import web_page
from gristmill.recipe import Recipe
from gristmill.recipes import read_text

SPAM = {"english": "Click here to claim your prize.", "vietnamese": "Nhấn vào đây để nhận quà ngay."}


def made_up(name: str, docs: int) -> list[str]:
    """Pages of one of the demo's languages; every tenth has a phrase of spam in it, every fifteenth repeats itself."""
    draw = random.Random(name).random
    texts = [web_page(language(name), 150, draw) for _ in range(docs)]
    texts[::10] = [f"{text}\n{SPAM[name]}" for text in texts[::10]]
    texts[::15] = ["\n".join([text.split("\n")[-1]] * 12) for text in texts[::15]]
    return texts


def put(folder: Path, texts: list[str]) -> None:
    folder.mkdir(parents=True)
    lines = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
    (folder / "0.jsonl.gz").write_bytes(gzip.compress(lines.encode(), 1, mtime=0))


def run_offline(name: str, root: Path, output: Path) -> gm.Result:
    steps: list[Any] = [
        partial(changes.on_local_root, root=root),
        partial(changes.replaced, key="tokenizer", value={"train": {"vocab_size": 1000, "sample": "1MB"}}),
        partial(changes.with_parts, changes={"output": {"path": str(output)}, "engine": {"workers": 1}}),
    ]
    return gm.run(Recipe.from_text(read_text(name), name, *steps))


@pytest.mark.parametrize(
    ("recipe", "dataset", "spoken"),
    [
        ("simple", "Skylion007/openwebtext", "english"),
        ("vietnamese", "bkai-foundation-models/BKAINewsCorpus", "vietnamese"),
    ],
)
def test_on_made_up_text(tmp_path: Path, recipe: str, dataset: str, spoken: str) -> None:
    put(tmp_path / dataset, made_up(spoken, 300))
    result = run_offline(recipe, tmp_path, tmp_path / "out")
    [sift] = result.ledger.of("sift")
    assert sift.left > 200, "most of ordinary pages stay"
    assert sum(count for reason, count in sift.gone.items() if reason.startswith("gopher_repetition.")) >= 20
    if recipe == "vietnamese":
        assert sift.gone["spam.phrase"] >= 15
    assert sum(len(batch["rows"]) for batch in gm.load(tmp_path / "out", framework="numpy")) > 10


def test_vietnamese_is_the_same_however_it_is_typed(tmp_path: Path) -> None:
    """NFD is normalised before anybody judges."""
    import unicodedata

    texts = made_up("vietnamese", 60)
    for form in ("NFC", "NFD"):
        put(tmp_path / form / "bkai-foundation-models/BKAINewsCorpus", [unicodedata.normalize(form, t) for t in texts])
    composed, decomposed = (
        run_offline("vietnamese", tmp_path / form, tmp_path / f"out-{form}").ledger.of("sift")[0]
        for form in ("NFC", "NFD")
    )
    assert (composed.left, composed.gone) == (decomposed.left, decomposed.gone)


def test_several_languages_on_real_text(tmp_path: Path, corpora: Path) -> None:
    """FineWeb-2's presets on documentation in three languages."""
    for config, name in (("vie_Latn", "vi"), ("fra_Latn", "fr"), ("deu_Latn", "de")):
        with zstandard.open(corpora / f"{name}.jsonl.zst", "rt", encoding="utf-8") as lines:
            put(
                tmp_path / "HuggingFaceFW/fineweb-2" / config, [json.loads(line)["text"] for line in islice(lines, 200)]
            )
    result = run_offline("multilingual", tmp_path, tmp_path / "out")
    for entry in result.ledger.of("sift"):
        assert entry.left > 0.2 * entry.entered, entry
    shares = {entry.source: entry.details["stages"][0]["achieved_share"] for entry in result.ledger.of("mix")}
    assert shares == pytest.approx({"vietnamese": 0.4, "french": 0.3, "german": 0.3}, abs=0.03)

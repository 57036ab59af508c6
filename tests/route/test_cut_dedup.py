"""Deduplicators that cut, through the whole route."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from route_inputs import WORDS, make_recipe, packed_digest, write_jsonl
from test_route import documents, run

from gristmill.dedup import occurrences
from gristmill.dedup.cutting import CuttingUnit, cut_in_memory
from gristmill.dedup.sentences import Sentences
from gristmill.dedup.substrings import Substrings
from gristmill.errors import ResumeError
from gristmill.formats import cuts, drops

SENTENCES = Sentences(n_sentences=2, min_doc_words=8, min_num_sentences=0)
SUBSTRINGS = Substrings(min_bytes=60, min_doc_words=8)
DEDUP: list[Any] = [
    "exact",
    {"sentences": {"n_sentences": 2, "min_doc_words": 8, "min_num_sentences": 0}},
    {"substrings": {"min_bytes": 60, "min_doc_words": 8}},
]


def make_texts(count: int, seed: int) -> list[str]:
    """Sentences of few words, many of them used again; some without the marks that make sentences."""
    rng = random.Random(seed)
    pool = [" ".join(rng.choices(WORDS, k=rng.randint(4, 9))) for _ in range(count // 2)]
    texts = []
    for number in range(count):
        parts = [rng.choice(pool) if rng.random() < 0.4 else " ".join(rng.choices(WORDS, k=7)) for _ in range(9)]
        texts.append(f"{seed}-{number} " + (". " if number % 3 else " ").join(parts) + ".")
    return [*texts, *texts[:5]]


def recipe_of(folder: Path, **changes: Any) -> dict[str, Any]:
    for name, count, seed in (("one", 240, 1), ("two", 160, 1)):  # the sources share sentences
        if not (folder / "raw" / f"{name}.jsonl").exists():
            write_jsonl(folder / "raw" / f"{name}.jsonl", make_texts(count, seed))
    return make_recipe(folder, **{"filters": [], "dedup": DEDUP, **changes})


def after(unit: CuttingUnit, texts: list[str]) -> list[str]:
    [[batch]] = cut_in_memory(unit, [[texts]])
    return batch.texts.filter(pa.array(~batch.too_short)).to_pylist()  # type: ignore[no-any-return]


def expected_texts() -> list[str]:
    texts = list(dict.fromkeys([*make_texts(240, 1), *make_texts(160, 1)]))
    return after(SUBSTRINGS, after(SENTENCES, texts))


def cut_digest(output: Path) -> str:
    """SHA-256 over the cuts and drops themselves: rows and bytes, not how they are written."""
    digest = hashlib.sha256()
    for path in sorted((output / "dedup").rglob("*.parquet")):
        if path.name.endswith(".cuts.parquet"):
            found = [column.tolist() for column in cuts.read(path)]
            digest.update(f"{path.relative_to(output)} {found}".encode())
        elif path.name.endswith(".drops.parquet"):
            digest.update(f"{path.relative_to(output)} {drops.read_rows(path).tolist()}".encode())
    return digest.hexdigest()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("cuts")
    return folder, run(recipe_of(folder))[0]


def test_what_is_tokenized_is_the_cut_text(tmp_path: Path) -> None:
    sources = [{"name": name, "path": str(tmp_path / "raw" / f"{name}.jsonl")} for name in ("one", "two")]
    result, _ = run(recipe_of(tmp_path, sources=sources))
    expected = expected_texts()
    assert sorted(documents(result.path).elements()) == sorted(expected)
    untouched = {*make_texts(240, 1), *make_texts(160, 1)}
    assert sum(text not in untouched for text in expected) > 50, "the test wants texts that were cut"


def test_the_ledger_says_what_went_in_documents_and_bytes(finished: tuple[Path, Any]) -> None:
    _, result = finished
    entries = [entry for entry in result.ledger.of("dedup") if entry.source == "two"]
    assert [list(entry.gone) for entry in entries] == [["exact"], ["sentences.too_short"], ["substrings.too_short"]]
    assert all(entry.difference() == 0 for entry in entries)
    _, sentences, substrings = (entry.details for entry in entries)
    assert sentences["cut_bytes"] > 0 and sentences["cut_documents"] > 0
    assert substrings["bytes"] == sentences["bytes"] - sentences["cut_bytes"] - sentences["too_short_bytes"]
    left = sum(
        entry.details["bytes"] - entry.details["cut_bytes"] - entry.details["too_short_bytes"]
        for entry in result.ledger.of("dedup")
        if "substrings.too_short" in entry.gone
    )
    assert left == sum(len(text.encode()) for text in expected_texts())


@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers_gives_the_same_bytes(finished: tuple[Path, Any], tmp_path: Path, workers: int) -> None:
    folder, result = finished
    other, _ = run(recipe_of(folder, output={"path": str(tmp_path / "out")}, engine={"workers": workers}))
    assert packed_digest(other.path) == packed_digest(result.path)
    assert cut_digest(other.path) == cut_digest(result.path)


def test_partitions_do_not_matter(finished: tuple[Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, result = finished
    monkeypatch.setattr(occurrences, "SAMPLED_ROWS", 16)
    monkeypatch.setattr(occurrences.partitions, "__defaults__", (64,))
    monkeypatch.setattr(occurrences.runs, "__defaults__", (50,))
    other, watcher = run(recipe_of(folder, output={"path": str(tmp_path / "out")}))
    assert watcher.ran["dedup/substrings.anchors"] > 3
    assert cut_digest(other.path) == cut_digest(result.path)


def test_chunks_do_not_matter(tmp_path: Path) -> None:
    sources = [{"name": name, "path": str(tmp_path / "raw" / f"{name}.jsonl")} for name in ("one", "two")]
    result, _ = run(recipe_of(tmp_path, sources=sources, output={"chunk": "3kB"}))
    assert sorted(documents(result.path).elements()) == sorted(expected_texts())


def test_a_deduplicator_behind_one_that_cuts_sees_what_is_left(tmp_path: Path) -> None:
    span = "The same two sentences are here. They are here again."
    texts = [f"{span} First of all.", f"Other. {span} The end.", "Other. The end."]
    path = str(write_jsonl(tmp_path / "raw" / "three.jsonl", texts))
    sentences = {"sentences": {"n_sentences": 2, "min_doc_words": 0, "min_num_sentences": 0}}
    recipe = recipe_of(tmp_path, dedup=[sentences, "exact"], sources=[{"name": "three", "path": path}])
    result, _ = run({**recipe, "tokenizer": {"train": {"vocab_size": 257, "sample": "1MB"}}})
    assert [entry.gone for entry in result.ledger.of("dedup")] == [{"sentences.too_short": 0}, {"exact": 1}]
    assert sorted(documents(result.path)) == sorted(texts[:1] + texts[2:])


def test_spans_that_an_earlier_run_saw_go(tmp_path: Path) -> None:
    one = make_texts(60, 1)
    texts = {"one": one, "two": [*make_texts(40, 2), *one[20:30]]}
    parameters = {**DEDUP[1]["sentences"], "index": str(tmp_path / "index")}

    def recipe(name: str, **changes: Any) -> dict[str, Any]:
        path = str(tmp_path / name / "raw" / f"{name}.jsonl")
        dedup = [{"sentences": {**parameters, **changes}}]
        output = {"path": str(tmp_path / name / "out"), "chunk": "5kB"}
        return recipe_of(tmp_path / name, dedup=dedup, sources=[{"name": name, "path": path}], output=output)

    for name in texts:
        write_jsonl(tmp_path / name / "raw" / f"{name}.jsonl", texts[name])
        run(recipe(name))
    both = cut_in_memory(SENTENCES, [[texts["one"]], [texts["two"]]])
    for name, [batch] in zip(texts, both, strict=True):
        expected = batch.texts.filter(pa.array(~batch.too_short)).to_pylist()
        assert sorted(documents(tmp_path / name / "out").elements()) == sorted(expected)
    assert both[1][0].too_short.sum() > after_alone(texts["two"]), "the test wants documents that go for earlier ones"
    for name in texts:  # again: nobody is cut for what it saw itself, or for what was added after it
        _, watcher = run(recipe(name))
        assert not watcher.ran
    assert len(list((tmp_path / "index").glob("*/entry.json"))) == 2
    with pytest.raises(ResumeError, match="n_sentences: 2 instead of 3"):
        run(recipe("two", n_sentences=3))


def after_alone(texts: list[str]) -> int:
    [[batch]] = cut_in_memory(SENTENCES, [[texts]])
    return int(batch.too_short.sum())


def test_again_does_nothing(finished: tuple[Path, Any]) -> None:
    folder, _ = finished
    _, watcher = run(recipe_of(folder))
    assert not watcher.ran


def test_a_changed_parameter_runs_nothing_before_it(tmp_path: Path) -> None:
    dedup = [*DEDUP[:2], {"substrings": {"min_bytes": 60, "min_doc_words": 9}}]
    recipe = recipe_of(tmp_path, dedup=DEDUP)
    run(recipe)
    _, watcher = run({**recipe, "dedup": dedup})
    assert not [name for name in watcher.ran if name.startswith(("sift", "judge", "dedup/exact", "dedup/sentences"))]
    assert watcher.ran["dedup/substrings/one"] > 1


_KILLED_AT = [
    "sentences.spans/one/00001.found.arrow",
    "sentences.spans/00000.repeated.arrow",
    "sentences.spans/00000.new.arrow",
    "sentences/two/00001.cuts.parquet",
    "substrings.anchors/two/00000.json",
    "substrings.anchors/00000.examined.arrow",
    "substrings.blocks/00000.repeated.arrow",
    "substrings.windows/one/00002.found.arrow",
    "substrings.windows/00000.json",
    "substrings/one/00003.cuts.parquet",
]
_CHILD = """
import json, os, pathlib, signal, sys
import gristmill
replace = pathlib.Path.replace
def kill_before(self, target):
    if str(target).endswith("/dedup/" + sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
pathlib.Path.replace = kill_before
gristmill.run(json.loads(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_killed_in_every_step_and_resumed_gives_the_same_bytes(finished: tuple[Path, Any], tmp_path: Path) -> None:
    folder, result = finished
    dedup = [DEDUP[0], {"sentences": {**DEDUP[1]["sentences"], "index": str(tmp_path / "index")}}, DEDUP[2]]
    recipe = recipe_of(folder, output={"path": str(tmp_path / "out")}, dedup=dedup)
    for name in _KILLED_AT:
        child = subprocess.run([sys.executable, "-c", _CHILD, json.dumps(recipe), name], check=False)
        assert child.returncode == -signal.SIGKILL, name
    resumed, _ = run(recipe)
    assert packed_digest(resumed.path) == packed_digest(result.path)
    assert cut_digest(resumed.path) == cut_digest(result.path)
    assert resumed.ledger.entries == result.ledger.entries
    assert not list(resumed.path.rglob("*.tmp-*"))

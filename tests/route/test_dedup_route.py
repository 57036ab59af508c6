from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from dedup_route import Document, dedup_recipe, drops_of, near_duplicates, run_dedup
from route_inputs import write_jsonl

import gristmill as gm
from gristmill.dedup.minhash import MinHash
from gristmill.drive import Silent
from gristmill.errors import LedgerError, RecipeError, ResumeError
from gristmill.route import drop_files

ALL_KINDS: list[Any] = [
    {"exact": {"on": "normalized"}},
    {"minhash": {"survivor": "longest"}},
    {"minhash": {"similarity": 0.6, "confirm": 0.7}},
    {"bloom": {"capacity": "1k"}},
]
PLANTED = {("one", row): ("one", row - 3) for row in range(3, 240, 4)}
PLANTED_TWO = {("two", row): ("two", row - 3) for row in range(3, 120, 4)}


def digests(output: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(output)): path.read_bytes()
        for path in sorted((output / "dedup").rglob("*"))
        if path.suffix in (".parquet", ".arrow")
    }


def test_minhash_finds_what_was_planted(tmp_path: Path) -> None:
    ledger = run_dedup(dedup_recipe(tmp_path, ["minhash"]))
    found = drops_of(tmp_path / "out", "minhash")
    planted = {**PLANTED, **PLANTED_TWO}
    assert set(found.items()) <= set(planted.items())
    assert len(found) > 0.9 * len(planted)  # their similarity is 0.85 to 0.9
    gone = Counter(source for source, _ in found)
    assert [entry.gone for entry in ledger.of("dedup")] == [{"minhash": gone["one"]}, {"minhash": gone["two"]}]


def test_each_sees_what_the_ones_before_it_left(tmp_path: Path) -> None:
    texts = ["some words that stand here twice, and no more"] * 2
    write_jsonl(tmp_path / "raw" / "one.jsonl", [*texts, *near_duplicates(20, 5)])
    ledger = run_dedup(dedup_recipe(tmp_path, ["exact", "exact", {"minhash": {}}]))
    assert drops_of(tmp_path / "out", "exact") == {("one", 1): ("one", 0)}
    assert drops_of(tmp_path / "out", "exact_2") == {}
    assert ("one", 1) not in drops_of(tmp_path / "out", "minhash")
    assert [sorted(entry.gone) for entry in ledger.of("dedup") if entry.source == "one"] == [["exact"], [], ["minhash"]]


def test_bytes_are_counted_by_kind(tmp_path: Path) -> None:
    texts = ["four bytes more"] * 3 + ["other"]
    write_jsonl(tmp_path / "raw" / "one.jsonl", texts)
    ledger = run_dedup(dedup_recipe(tmp_path, ["exact"], filters=[]))
    assert ledger.of("dedup")[0].details == {"gone_bytes": {"exact": 2 * len(texts[0])}}


@pytest.mark.parametrize(("workers", "chunk", "memory"), [(1, "16kB", "1GB"), (2, "16kB", "2GB"), (3, "16kB", "4GB")])
def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path, workers: int, chunk: str, memory: str) -> None:
    run_dedup(dedup_recipe(tmp_path, ALL_KINDS))
    other = dedup_recipe(
        tmp_path, ALL_KINDS, output={"path": str(tmp_path / "other"), "chunk": chunk},
        engine={"workers": workers, "memory": memory},
    )  # fmt: skip
    run_dedup(other)
    assert digests(tmp_path / "other") == digests(tmp_path / "out")


@pytest.mark.parametrize("unit", ["exact", "minhash", "minhash_2", "bloom"])
def test_any_chunk_size_drops_the_same(tmp_path_factory: pytest.TempPathFactory, unit: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "chunk_sizes"
    found = []
    for chunk in ("16kB", "5kB", "10MB"):
        output = folder / chunk
        if not output.exists():
            run_dedup(dedup_recipe(folder, ALL_KINDS, output={"path": str(output), "chunk": chunk}))
        found.append(drops_of(output, unit))
    assert found[0] == found[1] == found[2]


def test_confirmed_duplicates_are_as_similar_as_asked(tmp_path: Path) -> None:
    rough = {"minhash": {"buckets": 30, "hashes_per_bucket": 1, "confirm": 0.8}}
    run_dedup(dedup_recipe(tmp_path, [rough]))
    found = drops_of(tmp_path / "out", "minhash")
    texts = {"one": near_duplicates(240, 1), "two": near_duplicates(120, 2)}
    similarity = {pair: _jaccard(texts, *pair) for pair in [*PLANTED.items(), *PLANTED_TWO.items()]}
    assert set(found.items()) == {pair for pair, ratio in similarity.items() if ratio >= 0.8}  # 30 x 1 misses none


def _jaccard(texts: dict[str, list[str]], one: Document, other: Document) -> float:
    offsets, hashes = MinHash().shingle_sets(
        pa.array([texts[source][row] for source, row in (one, other)], pa.large_string())
    )
    left, right = set(hashes[: offsets[1]].tolist()), set(hashes[offsets[1] :].tolist())
    return len(left & right) / len(left | right)


def write_scored(path: Path, texts: list[str], scores: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ({"text": text, "score": score} for text, score in zip(texts, scores, strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(("kind", "confirm"), [("exact", False), ("minhash", False), ("minhash", 0.5)])
def test_the_highest_score_stays(tmp_path: Path, kind: str, confirm: Any) -> None:
    same = "these are eight words that stand here often"
    write_scored(tmp_path / "raw" / "one.jsonl", [same] * 4 + ["something else"], [1, "2.5", None, 2.5, 9])
    parameters = {"survivor": {"highest": "score"}} | ({"confirm": confirm} if confirm else {})
    run_dedup(dedup_recipe(tmp_path, [{kind: parameters}], filters=[]))
    stays = ("one", 1)
    assert drops_of(tmp_path / "out", kind).items() >= {("one", 0): stays, ("one", 2): stays, ("one", 3): stays}.items()


def test_who_stays_is_decided_anew_without_reading_text(tmp_path: Path) -> None:
    run_dedup(dedup_recipe(tmp_path, ["minhash"]))
    before = {path.stat().st_mtime_ns for path in (tmp_path / "out/sift").rglob("*.parquet")}
    run_dedup(dedup_recipe(tmp_path, [{"minhash": {"survivor": "longest"}}]))
    assert {path.stat().st_mtime_ns for path in (tmp_path / "out/sift").rglob("*.parquet")} == before
    assert drops_of(tmp_path / "out", "minhash") != {**PLANTED, **PLANTED_TWO}


def test_cluster_sizes_and_the_largest_are_kept(tmp_path: Path) -> None:
    texts = ["a a a", "b b b", "a a a", "b b b", "a a a", "c c c"]
    write_jsonl(tmp_path / "raw" / "one.jsonl", texts)
    run_dedup(dedup_recipe(tmp_path, ["exact"], filters=[]))
    counts = json.loads((tmp_path / "out/dedup/exact/drops.json").read_text())["counts"]
    assert counts["cluster_sizes"] == {"2": 1, "3": 1}
    assert counts["largest_clusters"] == [
        {"size": 3, "members": [["one", 0, 0], ["one", 0, 2], ["one", 0, 4]]},
        {"size": 2, "members": [["one", 0, 1], ["one", 0, 3]]},
    ]


def test_no_duplicates_among_many_documents_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drop_files, "EXPECT_DUPLICATES_ABOVE_DOCS", 4)
    watcher = Silent()
    write_jsonl(tmp_path / "raw" / "one.jsonl", ["a a", "b b", "c c", "d d", "e e"])
    run_dedup(dedup_recipe(tmp_path, ["exact", {"bloom": {"capacity": 1000}}], filters=[]), watcher)
    [one, other] = watcher.notices
    assert one.startswith("`exact` found not one duplicate among 125 documents")
    assert other.startswith("`bloom`")


def test_a_bloom_filter_drops_what_exact_drops(tmp_path: Path) -> None:
    texts = [f"text {number % 70}" for number in range(100)]
    write_jsonl(tmp_path / "raw" / "one.jsonl", texts)
    run_dedup(dedup_recipe(tmp_path, ["exact"], filters=[]))
    other = str(tmp_path / "other")
    run_dedup(dedup_recipe(tmp_path, [{"bloom": {"capacity": "1k"}}], filters=[], output={"path": other}))
    assert dict.fromkeys(drops_of(tmp_path / "out", "exact")) == drops_of(tmp_path / "other", "bloom")


def test_a_bloom_filter_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"expected engine.memory of at least 7.19 GB for the Bloom"):
        run_dedup(dedup_recipe(tmp_path, [{"bloom": {"capacity": "1B"}}]))


def test_more_documents_than_capacity_are_told(tmp_path: Path) -> None:
    watcher = Silent()
    run_dedup(dedup_recipe(tmp_path, [{"bloom": {"capacity": 50}}]), watcher)
    assert "more than its capacity of 50: a document is now dropped wrongly with" in watcher.notices[0]


INDEXED: list[dict[str, Any]] = [
    {"exact": {}},
    {"minhash": {}},
    {"minhash": {"confirm": 0.7}},
    {"bloom": {"capacity": "1k"}},
]


def indexed(item: dict[str, Any], index: Path) -> list[Any]:
    [(name, parameters)] = item.items()
    return [{name: {**parameters, "index": str(index)}}]


@pytest.mark.parametrize("item", INDEXED, ids=["exact", "minhash", "confirm", "bloom"])
def test_a_later_run_drops_what_an_earlier_one_kept(tmp_path: Path, item: dict[str, Any]) -> None:
    dedup = indexed(item, tmp_path / "index")
    [name] = item
    first, second = tmp_path / "first", tmp_path / "second"
    kept = gm.run(dedup_recipe(first, dedup)).ledger.left("one", "documents")
    write_jsonl(second / "raw" / "one.jsonl", [*near_duplicates(240, 1)[:100], *near_duplicates(40, 7)])
    write_jsonl(second / "raw" / "two.jsonl", near_duplicates(120, 8))
    gm.run(dedup_recipe(second, dedup))
    found = drops_of(second / "out", name)
    seen_before = {document for document, stays in found.items() if stays is None and document[1] < 100}
    assert len(seen_before) == 100
    if name != "bloom":
        assert all(stays is not None for (source, row), stays in found.items() if source == "two" or row >= 100)
    digest = digests(first / "out"), digests(second / "out")
    for folder in (first, second, first):  # again, in any order: nobody drops its own, or what was added after it
        gm.run(dedup_recipe(folder, dedup))
    assert (digests(first / "out"), digests(second / "out")) == digest
    assert len(list((tmp_path / "index").glob("*/entry.json"))) == 2
    assert kept > 0


def test_what_is_compared_with_an_index_is_as_similar_as_asked(tmp_path: Path) -> None:
    """Of documents like those of two earlier runs, exactly those go whose similarity to one of them is as asked."""
    dedup = [{"minhash": {"buckets": 60, "hashes_per_bucket": 2, "confirm": 0.6, "index": str(tmp_path / "index")}}]
    words = [f"{first}{second}" for first in "abcdefghijklm" for second in "nopqrstuvwxyz"]
    earlier = {"first": [" ".join(words[:60])], "second": [" ".join(words[60:130])]}
    for name, texts in earlier.items():
        write_jsonl(tmp_path / name / "raw" / "one.jsonl", [*texts, f"the {name} text for this source and no other"])
        write_jsonl(tmp_path / name / "raw" / "two.jsonl", [f"and the {name} text for the other source of two"])
        gm.run(dedup_recipe(tmp_path / name, dedup))
    asked = [" ".join([*text.split()[:kept], "and", *words[130:]][:90]) for [text] in earlier.values()
             for kept in range(20, 66, 5)]  # fmt: skip
    write_jsonl(tmp_path / "third" / "raw" / "one.jsonl", ["nothing that was seen in any other run but this", *asked])
    write_jsonl(tmp_path / "third" / "raw" / "two.jsonl", ["nothing that was seen in the other source either"])
    gm.run(dedup_recipe(tmp_path / "third", dedup))
    found = drops_of(tmp_path / "third" / "out", "minhash")
    offsets, hashes = MinHash().shingle_sets(pa.array([*(text for [text] in earlier.values()), *asked], "large_string"))
    sets = [set(hashes[start:stop].tolist()) for start, stop in pairwise(offsets)]
    alike = {row for row, one in enumerate(sets[2:], 1) if any(len(one & s) >= 0.6 * len(one | s) for s in sets[:2])}
    assert {row for (_, row), stays in found.items() if stays is None} == alike
    assert 2 < len(alike) < 18, "the test wants some of both"


def test_the_same_documents_elsewhere_are_the_same_run(tmp_path: Path) -> None:
    dedup = indexed({"exact": {}}, tmp_path / "index")
    gm.run(dedup_recipe(tmp_path, dedup))
    gm.run(dedup_recipe(tmp_path, dedup, output={"path": str(tmp_path / "elsewhere")}))
    assert drops_of(tmp_path / "elsewhere", "exact") == drops_of(tmp_path / "out", "exact")
    assert len(list((tmp_path / "index").glob("*/entry.json"))) == 1


def test_a_run_with_new_input_replaces_its_entry(tmp_path: Path) -> None:
    dedup = indexed({"exact": {}}, tmp_path / "index")
    gm.run(dedup_recipe(tmp_path, dedup))
    write_jsonl(tmp_path / "raw" / "two.jsonl", near_duplicates(160, 2))
    gm.run(dedup_recipe(tmp_path, dedup))
    assert all(stays is not None for stays in drops_of(tmp_path / "out", "exact").values())
    [entry] = (tmp_path / "index").glob("*/entry.json")
    assert sum(file["documents"] for file in json.loads(entry.read_text())["files"]) == 400


def test_an_index_of_a_run_that_failed_is_not_written(tmp_path: Path) -> None:
    run_dedup(dedup_recipe(tmp_path, indexed({"exact": {}}, tmp_path / "index")))
    assert not (tmp_path / "index").exists()


def test_an_index_with_other_parameters_is_refused(tmp_path: Path) -> None:
    gm.run(dedup_recipe(tmp_path, indexed({"minhash": {}}, tmp_path / "index")))
    with pytest.raises(ResumeError, match="found one made with others \\(buckets: 14 instead of 20\\)"):
        run_dedup(dedup_recipe(tmp_path, indexed({"minhash": {"buckets": 20}}, tmp_path / "index")))
    with pytest.raises(ResumeError, match="expected an index of `exact`"):
        run_dedup(dedup_recipe(tmp_path, indexed({"exact": {}}, tmp_path / "index")))
    with pytest.raises(ResumeError, match="keeps: None instead of sets"):
        run_dedup(dedup_recipe(tmp_path, indexed({"minhash": {"confirm": 0.7}}, tmp_path / "index")))


def test_a_folder_of_other_things_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(ResumeError, match="expected an index of Gristmill's or an empty folder"):
        run_dedup(dedup_recipe(tmp_path, [{"exact": {"index": str(tmp_path / "raw")}}]))


def test_everything_seen_before_is_an_error(tmp_path: Path) -> None:
    gm.run(dedup_recipe(tmp_path, [{"exact": {"index": {"path": str(tmp_path / "index"), "entry": "one"}}}]))
    again = [{"exact": {"index": {"path": str(tmp_path / "index"), "entry": "two"}}}]
    write_jsonl(tmp_path / "raw" / "one.jsonl", near_duplicates(200, 1))
    recipe = dedup_recipe(tmp_path, again)
    with pytest.raises(LedgerError, match=r"dedup: expected some documents to remain.*exact\.earlier 320"):
        run_dedup(recipe)

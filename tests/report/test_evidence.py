"""The evidence of a run: bounded, the same each time, and true."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_run import DROPPED_WORD, run

from gristmill.engine.ledger import Ledger
from gristmill.errors import ResumeError
from gristmill.report.evidence import gather, judged, rules, samples
from gristmill.report.evidence.marked import LEFT_OUT, MARKED, MOST_CHARACTERS, marked


@pytest.fixture(scope="module")
def evidence(reported: Path) -> dict[str, Any]:
    return gather(reported)


def test_it_is_the_same_each_time(reported: Path, evidence: dict[str, Any]) -> None:
    assert json.dumps(gather(reported)) == json.dumps(evidence)


def test_the_funnel_is_the_ledgers(reported: Path, evidence: dict[str, Any]) -> None:
    ledger = Ledger.read(reported)
    steps = {(step["stage"], step["unit"], step["label"]): step for step in evidence["funnel"]}
    kept = steps["sift", "documents", "kept by cleaning and filters"]
    assert kept["left"] == {entry.source: entry.left for entry in ledger.of("sift")}
    assert sum(kept["gone"]["spam.phrase"].values()) == sum(e.gone.get("spam.phrase", 0) for e in ledger.of("sift"))
    packed = steps["pack", "tokens", "packed"]
    assert packed["left"] == {entry.source: entry.left for entry in ledger.of("pack")}


def kept_at(bound: dict[str, Any], edge: int) -> int:
    spared = bound["spared"]
    return sum(spared[: edge + 1] if bound["side"] == "maximum" else spared[edge + 1 :])


def test_every_bound_keeps_what_the_run_kept(reported: Path, evidence: dict[str, Any]) -> None:
    kept = {entry.source: entry.left for entry in Ledger.read(reported).of("sift")}
    assert len(evidence["bounds"]) > 10
    for bound in evidence["bounds"]:
        assert bound["exact"], bound["rule"]
        assert bound["edges"][bound["at"]] == pytest.approx(bound["bound"])
        assert kept_at(bound, bound["at"]) == sum(kept[source] for source in bound["sources"]), bound["rule"]


@pytest.mark.parametrize(
    ("rule", "filter_", "parameter"),
    [
        ("length.min_characters", "length", "min_characters"),
        ("gopher_repetition.dup_line_frac", "gopher_repetition", "max_duplicate_lines"),
    ],
)
def test_what_another_bound_would_keep_is_what_it_keeps(
    reported: Path, evidence: dict[str, Any], rule: str, filter_: str, parameter: str
) -> None:
    [bound] = [bound for bound in evidence["bounds"] if bound["rule"] == rule]
    edge = min(
        (edge for edge in range(len(bound["edges"])) if kept_at(bound, edge) != kept_at(bound, bound["at"])),
        key=lambda edge: abs(edge - bound["at"]),
    )
    filters = [
        {"length": {"min_characters": 60}},
        {"language": {"keep": ["en"], "threshold": 0.5}},
        {"gopher_repetition": {}},
        {"spam": {}},
    ]
    changed = [
        {filter_: {**one[filter_], parameter: bound["edges"][edge]}} if filter_ in one else one for one in filters
    ]
    if filter_ == "length":
        changed[0]["length"][parameter] = int(bound["edges"][edge])
    again = run(reported.parent, f"again-{rule}", filters=changed)
    assert sum(entry.left for entry in Ledger.read(again).of("sift")) == kept_at(bound, edge)


def test_samples_show_what_a_rule_objects_to(evidence: dict[str, Any]) -> None:
    found = evidence["samples"]
    assert {"", "length.min_characters", "spam.phrase"} <= {sample["reason"] for sample in found}
    for sample in found:
        if sample["reason"] == "spam.phrase":
            assert [text for text, kind in sample["pieces"] if kind == MARKED], sample["id"]
            assert sample["measured"][0] == "spam.hits" and sample["measured"][1] >= 1
    [short] = [sample for sample in found if sample["id"] == "short"]
    assert DROPPED_WORD in short["pieces"][0][0] and short["measured"] == ["length.characters", 23.0, 60, None]


def test_pairs_and_clusters(reported: Path, evidence: dict[str, Any]) -> None:
    by_name = {one["name"]: one for one in evidence["duplicates"]}
    gone = {name: sum(e.gone.get(name, 0) for e in Ledger.read(reported).of("dedup")) for name in by_name}
    assert {name: one["documents"] for name, one in by_name.items()} == gone
    pair = by_name["exact"]["pairs"][0]
    assert pair["share"] == 1 and all(kind != 0 for _, kind in pair["gone"]["pieces"])


def test_rows_and_times(reported: Path, evidence: dict[str, Any]) -> None:
    packing = evidence["packing"]
    assert packing["tokens"] + packing["padding"] == packing["rows"] * packing["sequence_length"]
    for row in packing["stages"][0]["picture"]:
        starts, stops = [part[0] for part in row["parts"]], [part[1] for part in row["parts"]]
        assert starts == [0, *stops[:-1]] and stops[-1] <= 256
    assert [row["stage"] for row in evidence["timing"]][:2] == ["sift", "judge"]


def test_a_large_corpus_is_looked_at_in_part(
    reported: Path, evidence: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evidence["seen"]["chunks"] == evidence["seen"]["of_chunks"] == 2
    assert evidence["seen"]["rows"] == evidence["seen"]["of_rows"]
    monkeypatch.setattr(judged, "MOST_ROWS", 200)
    part = gather(reported)
    assert part["seen"]["chunks"] == 1 and part["seen"]["rows"] < part["seen"]["of_rows"]
    assert part["rules"] == evidence["rules"] and part["funnel"] == evidence["funnel"]


def test_texts_are_read_within_a_budget(
    reported: Path, evidence: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "_DROPPED_BYTES", 0)
    monkeypatch.setattr(samples, "_KEPT_BYTES", 0)
    some = gather(reported)["samples"]
    assert 0 < len(some) < len(evidence["samples"])
    assert len({(sample["source"], sample["chunk"]) for sample in some}) == 1  # one row group, whatever its size


def test_a_report_runs_no_code_that_a_folder_names(reported: Path, tmp_path: Path) -> None:
    copy = tmp_path / "out"
    shutil.copytree(reported, copy)
    recipe = (copy / "recipe.yaml").read_text("utf-8")
    (copy / "recipe.yaml").write_text(recipe.replace("filters:\n", "filters:\n- no_such_module:NoSuchClass: {}\n", 1))
    assert gather(copy)["rules"] == gather(reported)["rules"]


def test_no_finished_run(tmp_path: Path) -> None:
    with pytest.raises(ResumeError, match=r"ledger\.json"):
        gather(tmp_path)


def test_a_text_is_cut_around_its_marks() -> None:
    text = "a" * 5000 + "HERE" + "b" * 5000
    pieces = marked(text, [(5000, 5004)])
    assert ("HERE", MARKED) in pieces
    assert sum(len(text) if kind != LEFT_OUT else int(text) for text, kind in pieces) == len(text)
    assert sum(len(text) for text, kind in pieces if kind != LEFT_OUT) <= MOST_CHARACTERS


def test_however_many_marks_there_are() -> None:
    text = "word " * 10_000
    pieces = marked(text, [(start, start + 4) for start in range(0, len(text), 5)])
    assert sum(len(text) if kind != LEFT_OUT else int(text) for text, kind in pieces) == len(text)
    assert sum(len(text) for text, kind in pieces if kind != LEFT_OUT) <= MOST_CHARACTERS


def test_spans_may_overlap() -> None:
    assert marked("abcdef", [(3, 5), (1, 4), (2, 2)]) == [("a", 0), ("bcde", MARKED), ("f", 0)]


@pytest.mark.parametrize("at", [5e-324, 1e-9, 0.0, 0.3, 1.0])
def test_a_bound_is_an_edge_of_its_histogram_however_near_to_zero(at: float) -> None:
    """`language: {threshold: 0}` keeps what is above 0: its bound is the smallest number there is."""
    edges, _ = rules._edges(np.linspace(0, 1, 1000), at)
    assert at in edges

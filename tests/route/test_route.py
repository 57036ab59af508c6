from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from route_inputs import make_recipe, make_texts, packed_digest, write_jsonl
from tokenizers import Tokenizer

import gristmill as gm
from gristmill.drive import Silent
from gristmill.engine.local import Job
from gristmill.engine.record import Record
from gristmill.errors import LedgerError, ResumeError, SourceError
from gristmill.formats.packed_rows import PackedRows


class Watcher(Silent):
    """Keeps which tasks ran."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "ran", Counter())

    ran: Counter[str]

    def finished(self, job: Job, record: Record) -> None:
        self.ran[job.step.name] += 1


def run(recipe: dict[str, Any]) -> tuple[gm.Result, Watcher]:
    watcher = Watcher()
    return gm.run(recipe, watcher), watcher


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, gm.Result]:
    folder = tmp_path_factory.mktemp("route")
    return folder, run(make_recipe(folder))[0]


def documents(output: Path) -> Counter[str]:
    """The documents in the packed rows, put together again from their parts and decoded."""
    packed = PackedRows.open(output / "pack")
    tokenizer = Tokenizer.from_file(str(output / "pack" / "tokenizer.json"))
    parts: dict[tuple[int, int], dict[int, list[int]]] = {}
    for row in range(len(packed)):
        segments = packed.segments(row)
        stops = [*segments.start[1:].tolist(), packed.length(row)]
        for start, stop, source, document, token in zip(
            segments.start, stops, segments.source, segments.document, segments.token, strict=True
        ):
            parts.setdefault((int(source), int(document)), {})[int(token)] = packed.ids(row)[start:stop].tolist()
    whole = [[token for at in sorted(pieces) for token in pieces[at]] for pieces in parts.values()]
    eos = tokenizer.token_to_id("<|endoftext|>")
    assert all(ids[-1] == eos and eos not in ids[:-1] for ids in whole)
    return Counter(tokenizer.decode(ids[:-1]) for ids in whole)


def expected_documents() -> Counter[str]:
    seen = [text.strip() for count, seed in ((300, 1), (200, 2)) for text in make_texts(count, seed)]
    return Counter(dict.fromkeys((text for text in seen if len(text) >= 20), 1))


def test_every_kept_document_is_in_the_rows_once_and_whole(tmp_path: Path) -> None:
    recipe = make_recipe(
        tmp_path, sources=[{"name": n, "path": str(tmp_path / "raw" / f"{n}.jsonl")} for n in ("one", "two")]
    )
    result, _ = run(recipe)
    assert documents(result.path) == expected_documents()


def test_the_ledger_balances_and_tells_why(finished: tuple[Path, gm.Result]) -> None:
    _, result = finished
    [one, two] = result.ledger.of("sift")
    assert (one.entered, two.entered) == (300, 200)
    assert one.gone == {"length.min_characters": sum(len(text.strip()) < 20 for text in make_texts(300, 1))}
    assert all(entry.difference() == 0 for entry in result.ledger.entries)
    kept = sum(expected_documents().values())
    assert sum(entry.left for entry in result.ledger.of("dedup")) == kept


def test_shares_are_as_asked(finished: tuple[Path, gm.Result]) -> None:
    _, result = finished
    shares = [entry.details["stages"][0]["achieved_share"] for entry in result.ledger.of("mix")]
    assert shares == pytest.approx([0.7, 0.3], abs=0.01)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_workers_gives_the_same_bytes(
    finished: tuple[Path, gm.Result], tmp_path: Path, workers: int
) -> None:
    folder, result = finished
    recipe = make_recipe(folder, output={"path": str(tmp_path / "out")}, engine={"workers": workers})
    other, _ = run(recipe)
    assert packed_digest(other.path) == packed_digest(result.path)


def test_again_does_nothing(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path)
    first, _ = run(recipe)
    digest = packed_digest(first.path)
    second, watcher = run(recipe)
    assert not watcher.ran
    assert packed_digest(second.path) == digest
    assert second.ledger.entries == first.ledger.entries


def test_a_changed_weight_runs_mix_and_pack_only(tmp_path: Path) -> None:
    run(make_recipe(tmp_path))
    recipe = make_recipe(tmp_path)
    recipe["sources"][0]["weight"] = 0.5
    _, watcher = run(recipe)
    assert set(watcher.ran) == {"mix", "pack"}


@pytest.mark.parametrize("bound", [10, 200])
def test_a_changed_bound_judges_again_and_reads_no_raw_text(tmp_path: Path, bound: int) -> None:
    filters = [{"length": {"min_characters": bound}}]
    run(make_recipe(tmp_path, filters=[{"length": {"min_characters": 100}}]))
    changed, watcher = run(make_recipe(tmp_path, filters=filters))
    assert watcher.ran["judge/one"] > 1
    assert not watcher.ran.keys() & {"sift/one", "sift/two"}
    afresh, _ = run(make_recipe(tmp_path, filters=filters, output={"path": str(tmp_path / "afresh")}))
    assert packed_digest(changed.path) == packed_digest(afresh.path)


def test_without_the_dropped_texts_a_changed_bound_sifts_again(tmp_path: Path) -> None:
    output = {"keep_dropped": False}
    run(make_recipe(tmp_path, output=output))
    _, watcher = run(make_recipe(tmp_path, output=output, filters=[{"length": {"min_characters": 10}}]))
    assert watcher.ran["sift/one"] > 1


def test_a_filter_that_measures_something_new_sifts_again(tmp_path: Path) -> None:
    run(make_recipe(tmp_path))
    _, watcher = run(make_recipe(tmp_path, filters=[{"length": {"min_words": 5}}]))
    assert watcher.ran["sift/one"] > 1


def test_a_new_file_sifts_only_itself(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path)
    for source in recipe["sources"]:
        source["path"] = str(tmp_path / "raw" / f"{source['name']}*.jsonl")
    recipe["tokenizer"] = {"path": str(_tokenizer(tmp_path))}
    _, before = run(recipe)
    write_jsonl(tmp_path / "raw" / "twoz.jsonl", make_texts(200, 5))
    _, watcher = run(recipe)
    assert watcher.ran["sift/one"] == 0
    assert 0 < watcher.ran["sift/two"] <= before.ran["sift/two"]
    assert watcher.ran["tokenize/one"] == 0


def _tokenizer(folder: Path) -> Path:
    run(make_recipe(folder, output={"path": str(folder / "other")}))
    return folder / "other" / "pack" / "tokenizer.json"


def test_a_damaged_shard_is_found_named_and_made_again(tmp_path: Path) -> None:
    result, _ = run(make_recipe(tmp_path))
    digest = packed_digest(result.path)
    [shard, *_] = sorted((result.path / "tokenize" / "one").glob("*.arrow"))
    raw = bytearray(shard.read_bytes())
    raw[len(raw) // 2] ^= 1
    shard.write_bytes(raw)
    for row_file in (result.path / "pack").glob("*.arrow"):
        row_file.unlink()
    again, watcher = run(make_recipe(tmp_path))
    assert any("damaged" in notice and shard.name in notice for notice in watcher.notices)
    assert packed_digest(again.path) == digest


@pytest.mark.parametrize("strategy", ["wrapped", "best_fit", "padded"])
def test_tokens_are_accounted_for(tmp_path: Path, strategy: str) -> None:
    result, _ = run(make_recipe(tmp_path, pack={"strategy": strategy}))
    packed = PackedRows.open(result.path / "pack")
    drawn = sum(entry.left for entry in result.ledger.of("mix"))
    cropped = sum(entry.gone["cropped"] for entry in result.ledger.of("pack"))
    assert packed.manifest.tokens == drawn - cropped
    assert cropped < 128 if strategy == "wrapped" else cropped == 0
    assert sum(packed.length(row) for row in range(len(packed))) == packed.manifest.tokens


def test_the_loader_reads_what_the_route_wrote(finished: tuple[Path, gm.Result]) -> None:
    _, result = finished
    batches = list(gm.load(result.path, batch_size=4, framework="numpy"))
    rows = PackedRows.open(result.path / "pack")
    assert sum(len(batch["input_ids"]) for batch in batches) == len(rows)


def test_two_runs_on_one_output_are_refused(tmp_path: Path) -> None:
    import fcntl

    recipe = make_recipe(tmp_path)
    (tmp_path / "out").mkdir()
    with open(tmp_path / "out" / ".lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ResumeError, match="another run at work"):
            run(recipe)


def test_nothing_kept_is_an_error(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path, filters=[{"length": {"min_characters": 10**6}}])
    with pytest.raises(LedgerError, match=r"sift: expected some documents to remain.*length\.min_characters 500"):
        run(recipe)


def test_too_much_unreadable_fails_and_says_where(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path)
    with open(tmp_path / "raw" / "two.jsonl", "a") as file:
        file.write("{broken\n" * 5)
    with pytest.raises(
        SourceError, match=r"source `two`: expected at most 1\.00% unreadable rows, found 5 of 205"
    ) as caught:
        run(recipe)
    assert "two.jsonl at" in str(caught.value)
    recipe["sources"][1]["max_unreadable_ratio"] = 0.05
    result, _ = run(recipe)
    assert result.ledger.of("sift")[1].gone["unreadable.json"] == 5


def test_dropped_documents_are_kept_on_request(tmp_path: Path) -> None:
    result, _ = run(make_recipe(tmp_path, output={"keep_dropped": True}))
    tables = [pq.read_table(path) for path in sorted((result.path / "sift" / "one" / "dropped").iterdir())]
    texts = [text for table in tables for text in table["text"].to_pylist()]
    assert texts == [text.strip() for text in make_texts(300, 1) if len(text.strip()) < 20]
    assert set(tables[0]["verdict"].to_pylist()) == {"length.min_characters"}


def test_signals_have_a_row_for_every_row_read(finished: tuple[Path, gm.Result]) -> None:
    _, result = finished
    tables = [pq.read_table(path) for path in sorted((result.path / "sift" / "one").glob("*.signals.parquet"))]
    assert sum(len(table) for table in tables) == 300
    assert {"row", "file", "position", "verdict", "length.characters"} <= set(tables[0].column_names)


def test_a_plan_touches_nothing_and_knows_what_is_done(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path)
    plan = gm.plan(recipe)
    assert {job.step.name for job in plan.jobs} == {"sift/one", "sift/two"}
    assert not (tmp_path / "out").exists()
    run(recipe)
    assert not gm.plan(recipe).jobs
    recipe["sources"][0]["weight"] = 0.5
    [job] = gm.plan(recipe).jobs
    assert job.step.name == "mix"
    assert "weights.one: 0.7 -> 0.5" in job.why

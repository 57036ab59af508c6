"""What is well is said to be well; each kind of wrong, made on purpose and signed with right checksums, is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from gristmill.cli import app
from gristmill.engine import record as records
from gristmill.formats import packed_rows, token_shard
from gristmill.formats.row_file import RowFile, Segments
from gristmill.formats.token_shard import TokenShard
from gristmill.verification.check import Check
from gristmill.verification.run_folder import RunFolder
from gristmill.verification.verify import verify

Copy = Callable[[str], Path]


def checks(folder: Path, sample: int | None = None) -> dict[str, Check]:
    return {check.what: check for check in verify(folder, sample, 1)}


def failing(folder: Path, sample: int | None = None) -> set[str]:
    return {name for name, check in checks(folder, sample).items() if check.wrong}


def sign(folder: Path, name: str, **counts: Any) -> None:
    """Let a record say that its files are as they lie there now."""
    record = records.read(folder, name)
    assert record is not None
    files = tuple(records.written(folder, file.path) for file in record.files)
    records.write(folder, name, replace(record, files=files, counts={**record.counts, **counts}))


def rewrite_shard(output: Path, change: Callable[[Any, Any, Any], tuple[Any, Any, Any]]) -> None:
    """Change the first shard's rows, offsets and ids, and sign it."""
    folder = output / "tokenize" / "one"
    path = folder / "00000.arrow"
    shard = TokenShard.open(path)
    parts = change(shard.rows.copy(), shard.offsets.copy(), shard.ids.copy())
    token_shard.write(path, shard.tokenizer_fingerprint, [parts])
    sign(folder, "00000", docs=len(parts[0]), tokens=len(parts[2]))


def rewrite_rows(output: Path, change: Callable[[Any, Any, Segments], Segments], sign_it: bool = True) -> None:
    """Change the first row file (ids and lengths in place, segments anew), and sign it."""
    folder = output / "pack"
    layout = RunFolder(output).stages[0].manifest.layout
    file = RowFile.open(folder / "00000.arrow", layout)
    ids, lengths = file.ids.copy(), file.lengths.copy()
    segments = change(ids, lengths, Segments(*(column.copy() for column in file.segments)))
    packed_rows.write(folder / "00000.arrow", layout, ids, lengths, segments)
    if sign_it:
        sign(folder, "00000")


@pytest.mark.parametrize("name", ["best_fit", "wrapped", "padded", "stages"])
@pytest.mark.parametrize("sample", [None, 20])
def test_a_finished_run_is_well(runs: Path, name: str, sample: int | None) -> None:
    found = checks(runs / name, sample)
    assert not [place for check in found.values() for place in check.places]
    documents = 20 if sample else found["kept documents have tokens or a reason"].checked
    for what in ("ids are those of the document's text", "rows read are kept or carry a reason",
                 "packed tokens are those of their document", "drawn tokens are packed or cropped"):  # fmt: skip
        assert found[what].checked > 0
    assert found["ids are those of the document's text"].checked == documents > 0
    assert found["packed tokens are those of their document"].checked == sum(
        sum(record.counts["packed_tokens"]) for stage in RunFolder(runs / name).stages for record in stage.records
    )


def test_other_processes_find_the_same(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gristmill.verification.verify._FEW_TOKENS", 0)
    assert verify(runs / "best_fit", None, 2) == verify(runs / "best_fit", None, 1)


def test_damage_and_what_cannot_be_read(copy_of: Copy) -> None:
    output = copy_of("best_fit")
    path = output / "tokenize" / "one" / "00001.arrow"
    path.write_bytes(path.read_bytes()[:-700])
    found = checks(output)
    assert found["files are as they were written"].places == [f"damaged (its checksum differs): {path}"]
    assert str(path) in found["everything that was to be checked could be read"].places[0]
    (output / "pack" / "00000.arrow").unlink()
    assert f"missing: {output / 'pack' / '00000.arrow'}" in checks(output)["files are as they were written"].places


def test_a_record_that_was_changed(copy_of: Copy) -> None:
    output = copy_of("best_fit")
    record = output / "judge" / "one" / "00000.json"
    record.write_text(record.read_text().replace('"kept"', '"kopt"', 1))
    found = checks(output)
    assert str(record) in found["files are as they were written"].places[0]
    assert "judge/one/00000.json" in found["everything that was to be checked could be read"].places[0]


def test_a_ledger_that_says_something_else(copy_of: Copy) -> None:
    output = copy_of("best_fit")
    ledger = json.loads((output / "ledger.json").read_text())
    entry = next(entry for entry in ledger["entries"] if entry["stage"] == "pack")
    entry["left"], entry["gone"]["cropped"] = entry["left"] - 5, entry["gone"]["cropped"] + 5
    (output / "ledger.json").write_text(json.dumps(ledger))
    [place] = checks(output)["the ledger balances, and what it counts is there"].places
    assert "pack: source one" in place


@pytest.mark.parametrize("sample", [None, 10_000])
def test_a_wrong_id(copy_of: Copy, sample: int | None) -> None:
    output = copy_of("best_fit")

    def change(rows: Any, offsets: Any, ids: Any) -> Any:
        ids[offsets[3] + 2] ^= 1
        return rows, offsets, ids

    rewrite_shard(output, change)
    found = checks(output, sample)
    row = TokenShard.open(output / "tokenize" / "one" / "00000.arrow").rows[3]
    assert found["ids are those of the document's text"].places == [f"one/00000/{row}"]
    assert found["ids decode to the document's text"].places == [f"one/00000/{row}"]
    assert found["packed tokens are those of their document"].wrong >= 1


def test_a_document_without_tokens(copy_of: Copy) -> None:
    output = copy_of("best_fit")

    def change(rows: Any, offsets: Any, ids: Any) -> Any:
        return rows[:-1], offsets[:-1], ids[: offsets[-2]]

    last = TokenShard.open(output / "tokenize" / "one" / "00000.arrow").rows[-1]
    rewrite_shard(output, change)
    found = checks(output)
    assert any(f"/{last}" in place or "without tokens" in place
               for place in found["kept documents have tokens or a reason"].places)  # fmt: skip
    assert found["ids are those of the document's text"].places == [f"one/00000/{last}"]


def test_tokens_of_a_document_that_was_dropped(copy_of: Copy) -> None:
    output = copy_of("best_fit")
    gone = 14  # "short", which no filter lets through

    def change(rows: Any, offsets: Any, ids: Any) -> Any:
        at = int(np.searchsorted(rows, gone))
        rows[min(at, len(rows) - 1)] = gone
        return rows, offsets, ids

    rewrite_shard(output, change)
    assert "kept documents have tokens or a reason" in failing(output)


def test_a_wrong_id_in_a_row(copy_of: Copy) -> None:
    output = copy_of("best_fit")

    def change(ids: Any, lengths: Any, segments: Segments) -> Segments:
        ids[5, 7] ^= 1
        return segments

    rewrite_rows(output, change)
    check = checks(output)["packed tokens are those of their document"]
    assert check.wrong == 1 and "row 5, column 7, document" in check.places[0]


def test_padding_that_is_none(copy_of: Copy) -> None:
    output = copy_of("padded")

    def change(ids: Any, lengths: Any, segments: Segments) -> Segments:
        row = int(np.argmin(lengths))
        ids[row, -1] ^= 1
        return segments

    rewrite_rows(output, change)
    assert failing(output) == {"packed tokens are those of their document", "manifests list the packed rows"}


@pytest.mark.parametrize("name", ["best_fit", "wrapped", "padded"])
def test_a_row_twice_and_another_not_at_all(copy_of: Copy, name: str) -> None:
    """Every span is that of its document, and the ledger's numbers fit: only who counts each token finds it."""
    output = copy_of(name)

    def change(ids: Any, lengths: Any, segments: Segments) -> Segments:
        parts = np.diff(segments.offsets)
        one, other = next(
            (a, b)
            for a in range(len(parts)) for b in range(a + 1, len(parts))
            if parts[a] == parts[b] and lengths[a] == lengths[b]
        )  # fmt: skip
        ids[one] = ids[other]
        here, there = (slice(segments.offsets[row], segments.offsets[row + 1]) for row in (one, other))
        for column in segments[1:]:
            column[here] = column[there]
        return segments

    rewrite_rows(output, change)
    assert failing(output) == {"drawn tokens are packed or cropped", "manifests list the packed rows"}


def test_rows_that_cannot_be(copy_of: Copy) -> None:
    output = copy_of("best_fit")

    def change(ids: Any, lengths: Any, segments: Segments) -> Segments:
        segments.start[segments.offsets[2]] = 1
        return segments

    rewrite_rows(output, change)
    assert checks(output)["rows are whole"].places[0].endswith("row 2")


def test_the_command_says_it_by_its_exit_code(runs: Path, copy_of: Copy) -> None:
    well = CliRunner().invoke(app, ["verify", str(runs / "wrapped")])
    assert well.exit_code == 0 and "All is well." in well.output
    output = copy_of("best_fit")
    (output / "pack" / "00000.arrow").unlink()
    bad = CliRunner().invoke(app, ["verify", str(output)])
    assert bad.exit_code == 1 and "missing:" in bad.output
    as_json = CliRunner().invoke(app, ["verify", str(output), "--json"])
    assert as_json.exit_code == 1
    assert json.loads(as_json.output)["well"] is False

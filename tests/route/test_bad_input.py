"""What people's input and machines do to a run: each has a clear error or a counted verdict that says where."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from route_inputs import make_recipe, make_texts, packed_digest, write_jsonl

import gristmill as gm
from gristmill.errors import FormatError, GristmillError, LedgerError, RecipeError, SourceError, TaskError


def recipe_of(folder: Path, path: Path, **source: Any) -> dict[str, Any]:
    """A recipe whose only source is `path`."""
    return make_recipe(folder, sources=[{"name": "bad", "path": str(path), **source}])


def gone(recipe: dict[str, Any]) -> dict[str, int]:
    """What sift dropped, by reason."""
    return gm.run(recipe).ledger.of("sift")[0].gone


def test_a_truncated_gz_keeps_what_was_whole(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl.gz"
    lines = [json.dumps({"text": text}) for text in make_texts(2000, 1)]
    whole = gzip.compress("\n".join(lines).encode())
    path.write_bytes(whole[: len(whole) * 9 // 10])
    result = gm.run(recipe_of(tmp_path, path))
    [entry] = result.ledger.of("sift")
    assert entry.gone["unreadable.truncated"] == 1
    assert 1500 < entry.entered < 2000


def test_broken_lines_are_counted_by_kind(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "some.jsonl", make_texts(200, 1))
    bad = ['{"text": "cut', "[1, 2]", '{"no": "text"}', '{"text": null}', '{"text": 7}', "", '{"text": ""}']
    with open(path, "a", encoding="utf-8") as file:
        file.write("\n".join(bad) + "\n")
    found = gone(recipe_of(tmp_path, path, max_unreadable_ratio=0.1))
    assert {reason: count for reason, count in found.items() if not reason.startswith("length")} == {
        "unreadable.json": 1,
        "unreadable.not_an_object": 1,
        "unreadable.missing_text": 1,
        "unreadable.null_text": 1,
        "unreadable.text_type": 1,
        "clean.empty": 1,
    }


def test_a_missing_text_column_is_named_with_those_there_are(tmp_path: Path) -> None:
    pq.write_table(pa.table({"body": ["a"], "url": ["b"]}), tmp_path / "other.parquet")
    with pytest.raises(SourceError, match=r"column `text`, found `body`, `url`.*other\.parquet"):
        gm.run(recipe_of(tmp_path, tmp_path / "other.parquet"))


def test_a_parquet_file_of_another_schema_among_good_ones(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    pq.write_table(pa.table({"text": make_texts(100, 1)}), folder / "a.parquet")
    pq.write_table(pa.table({"text": list(range(100))}), folder / "b.parquet")
    with pytest.raises(GristmillError) as caught:
        gm.run(recipe_of(tmp_path, folder))
    assert "b.parquet" in str(caught.value)


def test_what_is_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "fake.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(SourceError, match=r"fake\.parquet"):
        gm.run(recipe_of(tmp_path, tmp_path / "fake.parquet"))


def test_nulls_in_a_column(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [*make_texts(300, 1), None, None]}), tmp_path / "nulls.parquet")
    assert gone(recipe_of(tmp_path, tmp_path / "nulls.parquet"))["unreadable.null_text"] == 2


def test_a_line_of_fifty_megabytes(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "long.jsonl", ["grain " * (50_000_000 // 6), *make_texts(100, 1)])
    recipe = recipe_of(tmp_path, path)
    recipe["output"]["chunk"] = "32MB"
    result = gm.run(recipe)
    assert result.ledger.of("sift")[0].entered == 101
    assert result.ledger.of("tokenize")[1].left > 1_000_000


def test_an_empty_file_is_no_document_and_no_error_beside_others(tmp_path: Path) -> None:
    folder = tmp_path / "some"
    write_jsonl(folder / "b.jsonl", make_texts(50, 1))
    (folder / "a.jsonl").write_bytes(b"")
    assert gm.run(recipe_of(tmp_path, folder)).ledger.of("sift")[0].entered == 50


def test_only_an_empty_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    with pytest.raises(LedgerError, match="expected some documents to remain, found none: 0 entered"):
        gm.run(recipe_of(tmp_path, tmp_path / "a.jsonl"))


def test_a_folder_without_matches(tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing" / "notes.docx").write_bytes(b"x")
    with pytest.raises(RecipeError, match=r"sources\[0\]\.path: expected(.|\n)*nothing"):
        gm.run(recipe_of(tmp_path, tmp_path / "nothing"))


def test_everything_filtered_away_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"found none: 500 entered; gone: length\.min_words 500"):
        gm.run(make_recipe(tmp_path, filters=[{"length": {"min_words": 100_000}}]))


def test_less_than_one_row_is_an_error(tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path, pack={"strategy": "wrapped", "sequence_length": 10_000_000})
    with pytest.raises(LedgerError, match="pack: expected some tokens to remain, found none"):
        gm.run(recipe)


def test_a_corrupted_row_file_is_found(tmp_path: Path) -> None:
    from gristmill.formats.packed_rows import PackedRows

    result = gm.run(make_recipe(tmp_path))
    digest = packed_digest(result.path)
    path = result.path / "pack" / "00000.arrow"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 4
    path.write_bytes(raw)
    with pytest.raises(FormatError, match=r"00000\.arrow"):
        PackedRows.open(result.path / "pack").verify()
    path.unlink()
    gm.run(make_recipe(tmp_path))
    assert packed_digest(result.path) == digest


@contextmanager
def small_disk(folder: Path, options: str) -> Iterator[None]:
    """A tmpfs at `folder`; skips where mounting is not allowed."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk needs the right to mount one: {mounted.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.skipif(os.name == "nt", reason="mounts a tmpfs")
@pytest.mark.parametrize("workers", [0, 2])
def test_a_full_disk_is_named_and_the_run_goes_on_elsewhere_later(tmp_path: Path, workers: int) -> None:
    write_jsonl(tmp_path / "raw" / "one.jsonl", make_texts(6000, 1))
    with small_disk(tmp_path / "disk", "size=300k"):
        recipe = make_recipe(tmp_path, output={"path": str(tmp_path / "disk" / "out")}, engine={"workers": workers})
        with pytest.raises(TaskError, match=r"No space left on device(.|\n)*run the same command again"):
            gm.run(recipe)
        assert not list((tmp_path / "disk").rglob("*.tmp-*"))
        subprocess.run(["mount", "-o", "remount,size=50m", tmp_path / "disk"], check=True)
        assert gm.run(recipe).ledger.of("pack")


@pytest.mark.skipif(os.name == "nt", reason="mounts a tmpfs")
def test_a_read_only_output(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "size=1m,ro"), pytest.raises(TaskError, match=r"output folder.*Read-only"):
        gm.run(make_recipe(tmp_path, output={"path": str(tmp_path / "disk" / "out")}))

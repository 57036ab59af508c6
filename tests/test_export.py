"""`gristmill export`: any format from a run's folder, whole or absent, the same bytes however it came about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import gristmill as gm
from gristmill.cli import app
from gristmill.errors import FormatError, ResumeError
from gristmill.export import TrainingSet, export, work_folder
from gristmill.formats import training_sets
from gristmill.formats.packed_rows import PackedRows
from gristmill.formats.training_sets import FORMATS, Compression, Options
from route.route_inputs import folder_digest, make_recipe, packed_digest

SMALL = Options(shard_bytes=20_000)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return gm.run(make_recipe(tmp_path_factory.mktemp("run"))).path


@pytest.mark.parametrize("name", FORMATS)
def test_rows_and_tokens_are_those_of_the_pack(output: Path, tmp_path: Path, name: str) -> None:
    packed = PackedRows.open(output / "pack")
    made = export(output, name, tmp_path / "set", SMALL, workers=0)
    assert (made.rows, made.tokens) == (packed.manifest.rows, packed.manifest.tokens)
    rows = list(made.read_rows())
    if name in ("gristmill", "parquet", "huggingface", "mds"):
        assert [np.asarray(row).tolist() for row in rows] == [packed.ids(row).tolist() for row in range(len(packed))]
    assert (len(list((tmp_path / "set").glob("0*"))) > 2) == (name not in ("megatron", "huggingface", "mds"))
    assert not work_folder(tmp_path / "set").exists()


def test_gristmill_to_gristmill_is_a_pack_that_loads(output: Path, tmp_path: Path) -> None:
    made = export(output, "gristmill", tmp_path / "set", SMALL, workers=0)
    PackedRows.open(made.folder).verify()
    batches = [[batch["input_ids"].tolist() for batch in gm.load(folder, 8, framework="numpy", shuffle_seed=1)]
               for folder in (output, made.folder)]  # fmt: skip
    assert batches[0] == batches[1]


@pytest.mark.parametrize("name", FORMATS)
def test_any_number_of_workers_gives_the_same_bytes(output: Path, tmp_path: Path, name: str) -> None:
    found = {
        folder_digest(export(output, name, tmp_path / str(workers), SMALL, workers).folder) for workers in (0, 1, 2)
    }
    assert len(found) == 1


def test_a_killed_export_goes_on(output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = folder_digest(export(output, "parquet", tmp_path / "whole", SMALL, 0).folder)
    written: list[str] = []
    write_part = training_sets.write_part

    def killed(name: str, folder: Path, stem: str, *rest: object) -> training_sets.Part:
        written.append(stem)
        if len(written) == 3:
            raise KeyboardInterrupt
        return write_part(name, folder, stem, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(training_sets, "write_part", killed)
    with pytest.raises(KeyboardInterrupt):
        export(output, "parquet", tmp_path / "set", SMALL, 0)
    assert not (tmp_path / "set").exists()
    made = export(output, "parquet", tmp_path / "set", SMALL, 0)
    assert folder_digest(made.folder) == whole
    assert len(written) == 3 + len(made.files) - 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set", "whole"]


def test_again_does_nothing_and_other_options_take_its_place(output: Path, tmp_path: Path) -> None:
    first = export(output, "parquet", tmp_path / "set", SMALL, 0)
    changed = (first.folder / "00000.parquet").stat().st_ino
    assert export(output, "parquet", tmp_path / "set", SMALL, 0) == first
    assert (first.folder / "00000.parquet").stat().st_ino == changed
    second = export(output, "parquet", tmp_path / "set", Options(Compression("zstd", 3)), 0)
    assert len(second.files) < len(first.files)
    assert TrainingSet.open(tmp_path / "set") == second
    (second.folder / "00000.parquet").write_bytes(b"")
    with pytest.raises(FormatError, match="bytes, found another file or none"):
        TrainingSet.open(tmp_path / "set")
    assert export(output, "parquet", tmp_path / "set", Options(Compression("zstd", 3)), 0) == second


def test_the_run_is_left_as_it_was(output: Path, tmp_path: Path) -> None:
    before = packed_digest(output)
    export(output, "mds", tmp_path / "set", SMALL, 0)
    assert packed_digest(output) == before


class TestRefusals:
    def test_somebody_elses_folder(self, output: Path, tmp_path: Path) -> None:
        (tmp_path / "thesis.txt").write_text("all my work")
        with pytest.raises(ResumeError, match="expected no folder yet, an empty one or an earlier export"):
            export(output, "parquet", tmp_path, SMALL, 0)
        assert (tmp_path / "thesis.txt").exists()

    def test_no_run(self, tmp_path: Path) -> None:
        with pytest.raises(ResumeError, match="expected the output folder of a finished run"):
            export(tmp_path, "parquet")

    def test_damaged_rows(self, tmp_path: Path) -> None:
        output = gm.run(make_recipe(tmp_path)).path
        (output / "pack" / "00000.arrow").write_bytes(b"")
        with pytest.raises(FormatError, match="expected packed rows of version 1"):
            export(output, "parquet", tmp_path / "set", SMALL, 0)
        assert not (tmp_path / "set").exists()


def test_the_command(output: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    arguments = ["export", str(output), "--to", "mds", "--output", str(tmp_path / "set"), "--workers", "0"]
    done = runner.invoke(app, [*arguments, "--compression", "zstd:3", "--shard-size", "20kB"])
    assert done.exit_code == 0, done.output
    assert "Training set: mds" in done.output
    assert len(list((tmp_path / "set").glob("*.mds.zstd"))) > 2
    wrong = runner.invoke(app, [*arguments[:2], "--to", "mdss"])
    assert isinstance(wrong.exception, FormatError)
    assert "Did you mean `mds`? Known: datatrove, gristmill, huggingface" in str(wrong.exception)
    assert runner.invoke(app, [*arguments, "--compression", "zstd:99"]).exception is not None

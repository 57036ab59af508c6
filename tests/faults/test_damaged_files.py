"""Every kind of file that a run writes, damaged in every way: `verify` names it, the next run makes the same bytes."""

from __future__ import annotations

import pytest
from fault_trials import ROUNDS, Trial, Twin

import disturbance

KINDS = [
    "documents", "signals", "dropped documents", "verdicts", "sorted hashes", "pairs", "candidates and their sets",
    "what repeats", "cuts", "drops", "trained tokenizer", "tokenizer spec", "token shard", "draw plan", "packed rows",
    "manifest", "tokenizer beside the rows", "ledger", "recipe", "shares", "record",
]  # fmt: skip
REWRITTEN = ("manifest", "tokenizer beside the rows", "ledger", "recipe", "shares", "record")  # by each run, unasked


def test_no_kind_of_file_is_forgotten(twin: Twin) -> None:
    found = disturbance.files_by_kind(twin.output)
    assert sorted(found) == sorted(KINDS)
    known = {file for files in found.values() for file in files}
    assert [
        file for file in twin.output.rglob("*") if file.is_file() and file not in known and file.name != ".lock"
    ] == []


@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_found_named_and_mended(trial: Trial, kind: str, turn: int) -> None:
    trial.finish()
    files = trial.files()[kind]
    file = files[trial.rng.randrange(len(files))]
    before = file.read_bytes()
    while not before.strip() or file.read_bytes().split() == before.split():  # a blank between values says nothing
        file.write_bytes(before)
        disturbance.flip_bit(file, trial.rng)
    well, said = trial.verify()
    assert not well
    assert str(file) in said
    notices = trial.ends_like_the_twin(f"a flipped bit: {kind}", check=True)
    assert kind in REWRITTEN or any(str(file) in notice for notice in notices)


@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("damage", ["tear", "blank", "delete"])
def test_one_file_of_every_kind_at_once(trial: Trial, damage: str, turn: int) -> None:
    trial.finish()
    broken = []
    for files in trial.files().values():
        file = files[trial.rng.randrange(len(files))]
        before = file.read_bytes()
        disturbance.DAMAGES[damage](file, trial.rng)
        if not file.exists() or file.read_bytes() != before:
            broken.append(file)
    assert len(broken) > len(KINDS) // 2
    assert not trial.verify()[0]
    trial.ends_like_the_twin(f"{damage}: a file of every kind", check=True)


def test_damage_that_others_read_is_mended_without_being_asked(trial: Trial) -> None:
    trial.finish()
    file = trial.files()["documents"][0]
    disturbance.flip_bit(file, trial.rng)
    for record in (trial.output / "tokenize").rglob("*.json"):
        record.unlink()
    notices = trial.ends_like_the_twin("a flipped bit: documents, read again")
    assert any(str(file) in notice for notice in notices)


def test_half_of_the_output_is_gone(trial: Trial) -> None:
    trial.finish()
    everything = [file for files in trial.files().values() for file in files]
    for file in trial.rng.sample(everything, len(everything) // 2):
        file.unlink()
    trial.ends_like_the_twin("half of all files deleted")


def test_leftovers_of_killed_writers_are_swept(trial: Trial) -> None:
    trial.finish()
    (trial.output / "sift" / "web-en" / "00000.parquet.tmp-4242").write_bytes(b"half")
    (trial.output / "mix" / "scratch.tmp-4242").mkdir()
    (trial.output / "mix" / "scratch.tmp-4242" / "roots").write_bytes(b"x" * 1000)
    trial.ends_like_the_twin("leftovers of killed writers")

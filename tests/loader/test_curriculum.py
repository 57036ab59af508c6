"""A run in stages, loaded: one stage after the other, each shuffled within itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gristmill.formats.packed_stages import write_stages
from gristmill.loader import load
from gristmill.loader.curriculum import StagedOrder
from reference.loader import layout, random_rows, write_pack

LENGTH, SIZES = 8, (11, 5, 20)


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    for number, size in enumerate(SIZES):
        write_pack(folder / "pack" / f"stage{number}", random_rows(size, LENGTH, seed=number), layout(LENGTH))
    write_stages(folder / "pack", [f"stage{number}" for number in range(len(SIZES))])
    return folder


def rows_of(loader: object) -> list[int]:
    return [int(row) for batch in loader for row in batch["rows"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", [None, 3])
def test_stages_come_in_sequence_every_epoch(staged: Path, seed: int | None) -> None:
    rows = rows_of(load(staged, 4, shuffle_seed=seed, epochs=2, framework="numpy"))
    epochs = [rows[: sum(SIZES)], rows[sum(SIZES) :]]
    for epoch in epochs:
        begin = 0
        for size in SIZES:
            assert sorted(epoch[begin : begin + size]) == list(range(begin, begin + size))
            begin += size
    if seed is None:
        assert epochs == [list(range(36))] * 2
    else:
        assert epochs[0] != epochs[1] and epochs[0] != sorted(epochs[0])


def test_the_rows_are_those_of_the_stages(staged: Path) -> None:
    together = load(staged, 36, framework="numpy")
    apart = [load(staged / "pack" / f"stage{number}", size, framework="numpy") for number, size in enumerate(SIZES)]
    [whole] = together
    expected = np.concatenate([batch["input_ids"] for loader in apart for batch in loader])
    assert np.array_equal(whole["input_ids"], expected)


def test_one_integer_resumes_in_the_middle_of_a_stage(staged: Path) -> None:
    undisturbed = rows_of(load(staged, 2, shuffle_seed=1, framework="numpy"))
    loader = load(staged, 2, shuffle_seed=1, framework="numpy")
    batches = iter(loader)
    seen = [int(row) for _ in range(7) for row in next(batches)["rows"]]
    other = load(staged, 5, shuffle_seed=1, framework="numpy")
    other.load_state_dict(loader.state_dict())
    assert seen + rows_of(other) == undisturbed


def test_any_stretch_is_a_stretch_of_the_whole() -> None:
    order = StagedOrder(SIZES, 7)
    whole = order.rows_at(np.arange(100))
    for begin in range(0, 90, 7):
        assert np.array_equal(order.rows_at(np.arange(begin, begin + 9)), whole[begin : begin + 9])

import json
import pickle
import stat
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.errors import ResumeError
from gristmill.formats.packed_rows import PackedRows
from gristmill.loader import load
from gristmill.loader.prefetch import in_order
from reference.loader import batch, layout, random_rows, write_pack

LENGTH = 8
ROWS = random_rows(53, LENGTH, seed=1)


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "pack"
    write_pack(folder, ROWS, layout(LENGTH))
    return folder


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """Packs of 1 to 40 rows."""
    root = tmp_path_factory.mktemp("packs")
    for count in range(1, 41):
        write_pack(root / str(count), ROWS[:count], layout(LENGTH), rows_a_file=3)
    return root


def rows_of(batches):
    return [row for one in batches for row in one["rows"].tolist()]


def in_step(loaders, steps):
    """Each rank takes up to that many batches; returns all their rows and rank 0's state."""
    taken = []
    for loader in loaders:
        batches = iter(loader)
        taken += rows_of(one for _, one in zip(range(steps), batches, strict=False))
    return taken, loaders[0].state_dict()


def ranks(folder, world_size, batch_size, **options):
    return [
        load(folder, batch_size, rank=rank, world_size=world_size, framework="numpy", **options)
        for rank in range(world_size)
    ]


@given(
    count=st.integers(1, 40),
    epochs=st.integers(1, 3),
    seed=st.none() | st.integers(0, 5),
    jobs=st.lists(st.tuples(st.sampled_from([1, 2, 3, 4, 8]), st.integers(1, 7), st.integers(0, 4)), max_size=3),
    last=st.tuples(st.sampled_from([1, 2, 3, 4, 8]), st.integers(1, 7)),
)
@settings(max_examples=150)
def test_every_row_once_an_epoch_through_any_resumes(packs, count, epochs, seed, jobs, last):
    """Jobs of any world and batch size, each stopped after some steps; the last one runs to the end."""
    folder, options = packs / str(count), {"epochs": epochs, "shuffle_seed": seed}
    taken, state = [], None
    for world_size, batch_size, steps in [*jobs, (*last, 10_000)]:
        loaders = ranks(folder, world_size, batch_size, **options)
        for loader in loaders:
            if state is not None:
                loader.load_state_dict(state)
        rows, state = in_step(loaders, steps)
        taken += rows
        assert state["row"] == len(taken)
    assert Counter(taken) == Counter(list(range(count)) * epochs)


@pytest.mark.parametrize("seed", [None, 3])
def test_from_four_ranks_to_two_to_eight(pack, seed):
    options = {"shuffle_seed": seed, "epochs": 2}
    taken, state = in_step(ranks(pack, 4, 3, **options), 3)
    for world_size, batch_size, steps in ((2, 5, 4), (8, 2, 100)):
        loaders = ranks(pack, world_size, batch_size, **options)
        for loader in loaders:
            loader.load_state_dict(json.loads(json.dumps(state)))
        rows, state = in_step(loaders, steps)
        taken += rows
    undisturbed = load(pack, 4, framework="numpy", **options)
    assert Counter(taken) == Counter(rows_of(undisturbed)) == Counter(list(range(53)) * 2)


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("seed", [None, 3])
def test_workers_change_nothing(pack, workers, seed):
    plain = load(pack, 4, shuffle_seed=seed, framework="numpy")
    other = load(pack, 4, shuffle_seed=seed, framework="numpy", workers=workers, prefetch=3)
    for one, two in zip(plain, other, strict=True):
        assert all(np.array_equal(one[name], two[name]) for name in one)
        assert plain.state_dict() == other.state_dict()


def test_the_state_counts_what_was_yielded_not_what_was_made_ahead(pack):
    loader = load(pack, 4, framework="numpy", workers=2, prefetch=4)
    batches = iter(loader)
    assert loader.state_dict()["row"] == 0
    for number in range(1, 4):
        next(batches)
        assert loader.state_dict()["row"] == 4 * number
    batches.close()
    assert rows_of(loader) == list(range(12, 53))


def test_a_batch_holds_what_its_rows_hold(pack):
    for found in load(pack, 5, framework="numpy", shuffle_seed=1):
        expected = batch([ROWS[row] for row in found["rows"]], layout(LENGTH), False)
        assert found["input_ids"].tolist() == expected["input_ids"]
        assert found["cu_seqlens"].tolist() == expected["cu_seqlens"]


def test_a_row_is_a_pure_function_of_its_number(pack):
    loaders = [load(pack, 3, framework="numpy"), load(pack, 7, framework="numpy", shuffle_seed=5, world_size=2)]
    next(iter(loaders[0]))
    for number in (0, 52, 17):
        expected = batch([ROWS[number]], layout(LENGTH), False)
        for loader in loaders:
            row = loader.row(number)
            assert row["input_ids"].tolist() == expected["input_ids"][0]
            assert row["labels"].tolist() == expected["labels"][0]
            assert row["position_ids"].tolist() == expected["position_ids"][0]
            assert row["cu_seqlens"].tolist() == expected["cu_seqlens"]


@given(count=st.integers(1, 40), world_size=st.integers(1, 5), batch_size=st.integers(1, 9), drop_last=st.booleans())
def test_the_length_is_the_number_of_batches(packs, count, world_size, batch_size, drop_last):
    for loader in ranks(packs / str(count), world_size, batch_size, drop_last=drop_last):
        assert len(loader) == len(list(loader))


def test_drop_last_gives_every_rank_equally_many(pack):
    loaders = ranks(pack, 4, 3, drop_last=True)
    batches = [list(loader) for loader in loaders]
    assert {len(one["rows"]) for own in batches for one in own} == {3}
    assert {len(own) for own in batches} == {4}
    assert {loader.state_dict()["row"] for loader in loaders} == {53}


def test_a_second_for_is_the_next_epoch(pack):
    loader = load(pack, 10, framework="numpy", shuffle_seed=1)
    epochs = [rows_of(loader), rows_of(loader)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(53))
    assert epochs[0] + epochs[1] == rows_of(load(pack, 10, framework="numpy", shuffle_seed=1, epochs=2))
    assert loader.epoch == 2
    assert loader.state_dict()["row"] == 106


def test_a_for_goes_on_where_the_last_one_stopped(pack):
    loader = load(pack, 10, framework="numpy")
    next(iter(loader))
    assert rows_of(loader) == list(range(10, 53))


def test_a_state_at_the_end_has_nothing_left(pack):
    finished = load(pack, 10, framework="numpy", shuffle_seed=1)
    list(finished)
    resumed = load(pack, 10, framework="numpy", shuffle_seed=1)
    resumed.load_state_dict(finished.state_dict())
    assert rows_of(resumed) == []
    assert rows_of(resumed) == rows_of(finished)


def test_a_state_of_a_later_epoch(pack):
    loader = load(pack, 10, framework="numpy", shuffle_seed=1)
    list(loader)
    next(iter(loader))
    resumed = load(pack, 4, framework="numpy", shuffle_seed=1)
    resumed.load_state_dict(loader.state_dict())
    assert resumed.epoch == 1
    assert rows_of(resumed) == rows_of(loader)


@pytest.mark.parametrize("workers", [0, 2])
def test_endless(pack, workers):
    loader = load(pack, 10, framework="numpy", shuffle_seed=1, epochs=None, workers=workers)
    taken = rows_of(one for _, one in zip(range(16), loader, strict=False))
    assert Counter(taken[:159]) == Counter(list(range(53)) * 3)
    with pytest.raises(TypeError):
        len(loader)


class TestState:
    def test_of_another_pack(self, pack, packs):
        state = load(packs / "40", framework="numpy").state_dict()
        with pytest.raises(ResumeError, match=r"expected a loader's state with fingerprint .* found .* other rows"):
            load(pack, framework="numpy").load_state_dict(state)

    def test_of_another_order(self, pack):
        state = load(pack, framework="numpy", shuffle_seed=1).state_dict()
        with pytest.raises(ResumeError, match=r"shuffle_seed 2, found 1(.|\n)*Give `load` the seed"):
            load(pack, framework="numpy", shuffle_seed=2).load_state_dict(state)

    def test_without_a_row(self, pack):
        state = load(pack, framework="numpy").state_dict()
        del state["row"]
        with pytest.raises(ResumeError, match="found one without row"):
            load(pack, framework="numpy").load_state_dict(state)

    @pytest.mark.parametrize("row", [-1, 1.5, "3", None])
    def test_with_a_row_that_is_none(self, pack, row):
        loader = load(pack, framework="numpy")
        with pytest.raises(ResumeError, match="expected a loader's state with a row number"):
            loader.load_state_dict({**loader.state_dict(), "row": row})


def test_from_a_read_only_folder(tmp_path):
    write_pack(tmp_path / "pack", ROWS[:5], layout(LENGTH))
    before = sorted(path.name for path in (tmp_path / "pack").iterdir())
    for path in [*(tmp_path / "pack").iterdir(), tmp_path / "pack"]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    assert rows_of(load(tmp_path, framework="numpy", workers=1)) == [0, 1, 2, 3, 4]
    assert sorted(path.name for path in (tmp_path / "pack").iterdir()) == before


def test_a_thousand_files_are_opened_one_by_one(tmp_path):
    write_pack(tmp_path, random_rows(1000, 4, seed=2), layout(4), rows_a_file=1)
    for number in range(10, 1000):
        (tmp_path / f"{number:05d}.arrow").unlink()
    assert next(iter(load(tmp_path, 10, framework="numpy")))["rows"].tolist() == list(range(10))


def test_a_pickled_loader_goes_on(pack):
    loader = load(pack, 10, framework="numpy", shuffle_seed=1)
    next(iter(loader))
    other = pickle.loads(pickle.dumps(loader))  # noqa: S301
    assert rows_of(other) == rows_of(loader)


def test_numpy_batches_without_importing_torch(pack):
    program = (
        "import sys; from gristmill.loader import load; "
        "batches = list(load(sys.argv[1], framework='numpy', workers=1)); "
        "assert len(batches) == 7 and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(pack)], check=True)


class TestPrefetch:
    def test_an_error_comes_in_its_turn(self):
        def make(step):
            if step == 3:
                raise ValueError("the fourth")
            return step

        made = in_order(make, range(10), workers=2, ahead=4)
        assert [next(made) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match="the fourth"):
            next(made)

    @given(steps=st.integers(0, 30), workers=st.integers(1, 4), ahead=st.integers(1, 9))
    @settings(max_examples=20)
    def test_in_order_and_not_further_ahead(self, steps, workers, ahead):
        begun = []

        def make(step):
            begun.append(step)
            return step

        for expected, step in enumerate(in_order(make, range(steps), workers, ahead)):
            assert step == expected
            assert len(begun) <= step + 1 + ahead
        assert sorted(begun) == list(range(steps))


def test_threads_that_map_files_at_once_see_whole_lines(pack):
    """Every file is mapped by whoever comes first; the others must not take its half-written line for damage."""
    for _ in range(60):
        packed = PackedRows.open(pack)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda row, packed=packed: packed.find(np.array([row])), [*range(53)] * 4))
        assert all(one.parts >= 1 for one in found)

"""Mixtures at load time: the order, and whole loaders over several packs."""

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.errors import FormatError, RecipeError, ResumeError
from gristmill.formats.joined_rows import JoinedRows
from gristmill.formats.packed_rows import PackedRows
from gristmill.loader import load
from gristmill.loader.mixture import BLOCK, mixed_order
from reference.loader import layout, padded_ids, random_rows, write_pack
from reference.mixture import stream

LENGTH = 8
ROWS = {"web": random_rows(40, LENGTH, seed=1), "wiki": random_rows(7, LENGTH, seed=2), "code": random_rows(13, 8, 3)}
WEIGHTS = {"web": 0.6, "wiki": 0.3, "code": 0.1}


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    root = tmp_path_factory.mktemp("packs")
    for name, rows in ROWS.items():
        write_pack(root / name / "pack", rows, layout(LENGTH))
    return [(root / name, weight) for name, weight in WEIGHTS.items()]


def rows_of(batches):
    return [row for one in batches for row in one["rows"].tolist()]


def mixed(packs, batch_size=4, **options):
    return load(packs, batch_size, framework="numpy", **options)


weights = st.lists(st.floats(0.1, 1000) | st.integers(1, 5), min_size=1, max_size=5)


@given(weights, st.integers(0, 3 * BLOCK), st.integers(0, 200), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_the_order_is_that_of_the_slow_twin(asked, begin, count, random):
    rows_of_sets = [random.randint(1, 100) for _ in asked]
    order = mixed_order(rows_of_sets, asked, None)
    found = order.rows_at(np.arange(begin, begin + count)).tolist()
    assert found == stream(list(order.counts), rows_of_sets, begin, begin + count)


@given(weights)
def test_a_block_is_dealt_out_by_largest_remainder(asked):
    counts = mixed_order([1] * len(asked), asked, None).counts
    assert sum(counts) == BLOCK
    assert all(abs(count - weight / math.fsum(asked) * BLOCK) < 1 for count, weight in zip(counts, asked, strict=True))


@given(weights, st.integers(0, BLOCK), st.integers(1, 3000))
@settings(max_examples=25)
def test_every_stretch_has_every_sets_share(asked, begin, count):
    order = mixed_order([10] * len(asked), asked, 5)
    sets = order.rows_at(np.arange(begin, begin + count)) // 10
    for number, of_block in enumerate(order.counts):
        assert abs((sets == number).sum() - count * of_block / BLOCK) <= len(asked)


@given(st.integers(0, 9), st.integers(0, 4 * BLOCK))
@settings(max_examples=30)
def test_a_sets_rows_come_once_in_each_of_its_own_epochs(seed, begin):
    order = mixed_order([40, 7, 13], [6, 3, 1], seed)
    begin = begin // BLOCK * BLOCK
    numbers = order.rows_at(np.arange(begin, begin + 3000))
    before = [drawn.rows for drawn in order.drawn(begin)]
    for first, count, taken in zip((0, 40, 47), (40, 7, 13), before, strict=True):
        own = numbers[(numbers >= first) & (numbers < first + count)][-taken % count :]
        epochs = [tuple(own[at : at + count]) for at in range(0, len(own) - count + 1, count)]
        assert len(epochs) > 10
        assert all(sorted(epoch) == list(range(first, first + count)) for epoch in epochs)
        assert len(set(epochs)) > 0.9 * len(epochs)


def test_equal_sets_are_shuffled_apart():
    numbers = mixed_order([1000, 1000], [1, 1], 7).rows_at(np.arange(2000))
    first, second = numbers[numbers < 1000], numbers[numbers >= 1000] - 1000
    assert (first == second).sum() < 20


@given(
    seed=st.none() | st.integers(0, 5),
    jobs=st.lists(st.tuples(st.sampled_from([1, 2, 4, 8]), st.integers(1, 7), st.integers(0, 4)), max_size=3),
)
@settings(max_examples=40)
def test_the_stream_is_one_through_any_resumes(packs, seed, jobs):
    options = {"shuffle_seed": seed, "epochs": 3}
    taken, state = [], None
    for world_size, batch_size, steps in [*jobs, (3, 5, 10_000)]:
        loaders = [mixed(packs, batch_size, rank=rank, world_size=world_size, **options) for rank in range(world_size)]
        for loader in loaders:
            if state is not None:
                loader.load_state_dict(json.loads(json.dumps(state)))
        for loader in loaders:
            taken += rows_of(one for _, one in zip(range(steps), loader, strict=False))
        state = loaders[0].state_dict()
        assert state["row"] == len(taken)
    assert Counter(taken) == Counter(rows_of(mixed(packs, **options)))


def test_batches_hold_what_the_packs_hold(packs):
    together = [row for rows in ROWS.values() for row in rows]
    for one in mixed(packs, shuffle_seed=1):
        assert one["input_ids"].tolist() == [padded_ids(together[row], layout(LENGTH)) for row in one["rows"]]


def test_requested_and_achieved_shares(packs):
    loader = mixed(packs, 10, shuffle_seed=1, epochs=None)
    assert [drawn.rows for drawn in loader.drawn()] == [0, 0, 0]
    taken = rows_of(one for _, one in zip(range(30), loader, strict=False))
    drawn = loader.drawn()
    assert [one.requested_ratio for one in drawn] == pytest.approx([0.6, 0.3, 0.1])
    assert [one.achieved_ratio for one in drawn] == pytest.approx([0.6, 0.3, 0.1], abs=0.005)
    assert [one.rows for one in drawn] == np.histogram(taken, [0, 40, 47, 60])[0].tolist()
    assert [one.epochs for one in drawn] == [one.rows / rows for one, rows in zip(drawn, (40, 7, 13), strict=True)]
    assert mixed(packs[0][0]).drawn()[0].achieved_ratio == 1


def test_segments_name_the_sources_of_all_packs(packs):
    joined = JoinedRows([PackedRows.open(path / "pack") for path, _ in packs])
    assert joined.manifest.layout.sources == ("web", "wiki") * 3
    assert joined.segments(46).source.tolist() == [part.source + 2 for part in ROWS["wiki"][6]]


class TestRefused:
    def test_weights(self, packs):
        paths = [path for path, _ in packs]
        with pytest.raises(RecipeError) as caught:
            mixed(list(zip(paths, (0, "much", math.nan), strict=True)))
        assert caught.value.problems == [
            "weights[0]: expected a number above 0, found 0",
            "weights[1]: expected a number above 0, found 'much'",
            "weights[2]: expected a number above 0, found nan",
        ]
        with pytest.raises(RecipeError, match=r"1/65,536 of the whole or more, found 1e-06 .*: weights\[1\]"):
            mixed(list(zip(paths, (1, 1e-6, 1), strict=True)))

    def test_no_packs(self):
        with pytest.raises(RecipeError, match="expected one pack or more, found none"):
            load([])

    @pytest.mark.parametrize("other", [layout(9), layout(8, 70_000)])
    def test_packs_that_do_not_go_together(self, packs, tmp_path, other):
        write_pack(tmp_path, random_rows(2, other.sequence_length, 1), other)
        with pytest.raises(FormatError, match=f"expected packs that a model can read as one, .* in {tmp_path}"):
            mixed([*packs, (tmp_path, 1)])

    def test_a_state_of_other_weights(self, packs):
        state = mixed(packs).state_dict()
        with pytest.raises(ResumeError, match="Give `load` the weights"):
            mixed([(path, 1) for path, _ in packs]).load_state_dict(state)

    def test_a_state_of_the_same_pack_alone(self, packs):
        path = packs[0][0]
        with pytest.raises(ResumeError, match="expected a loader's state with rows_a_block None"):
            load(path).load_state_dict(load([(path, 1)]).state_dict())
        with pytest.raises(ResumeError, match="found one without rows_a_block"):
            load([(path, 1)]).load_state_dict(load(path).state_dict())

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gristmill.loader.cursor import Order, Share
from reference.loader import shares


@given(
    rows=st.integers(1, 60),
    epochs=st.integers(1, 4),
    seed=st.none() | st.integers(0, (1 << 64) - 1),
)
def test_every_row_once_an_epoch(rows, epochs, seed):
    numbers = Order(rows, seed).rows_at(np.arange(rows * epochs))
    for epoch in range(epochs):
        assert sorted(numbers[epoch * rows : (epoch + 1) * rows]) == list(range(rows))


@given(rows=st.integers(1, 60), seed=st.none() | st.integers(0, 9), cuts=st.lists(st.integers(0, 180), max_size=5))
def test_a_position_is_looked_up_alone_as_in_a_batch(rows, seed, cuts):
    order, bounds = Order(rows, seed), [0, *sorted(cuts), 180]
    whole = order.rows_at(np.arange(180))
    parts = [order.rows_at(np.arange(begin, end)) for begin, end in pairwise(bounds)]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_epochs_and_seeds_differ():
    orders = [Order(1000, seed).rows_at(np.arange(2000)).reshape(2, -1) for seed in (1, 2)]
    same_places = [(a == b).sum() for a, b in [orders[0], orders[1], (orders[0][0], orders[1][0])]]
    assert max(same_places) < 20


def test_without_a_seed_rows_stay_as_packed():
    assert Order(5, None).rows_at(np.arange(12)).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]


@given(
    begin=st.integers(0, 50) | st.integers(1 << 40, 1 << 41),
    count=st.integers(0, 70),
    world_size=st.integers(1, 9),
    batch_size=st.integers(1, 9),
    drop_last=st.booleans(),
)
def test_shares_are_those_of_the_slow_twin(begin, count, world_size, batch_size, drop_last):
    end = begin + count
    expected = shares(list(range(begin, end)), world_size, batch_size, drop_last)
    for rank in range(world_size):
        share = Share(rank, world_size, batch_size, drop_last)
        found = [share.positions(begin, end, step).tolist() for step in range(share.steps(begin, end))]
        assert found == expected[rank]


@given(count=st.integers(1, 70), batch_size=st.integers(1, 5))
def test_a_global_batch_is_the_same_for_any_world_size(count, batch_size):
    def global_batches(world_size):
        share = [Share(rank, world_size, 12 * batch_size // world_size, False) for rank in range(world_size)]
        return [
            {position for one in share if step < one.steps(0, count) for position in one.positions(0, count, step)}
            for step in range(share[0].steps(0, count))
        ]

    assert global_batches(1) == global_batches(3) == global_batches(4) == global_batches(12)

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.formats.draw_plan import DrawPlan, Draws, write_draw_plan
from gristmill.packing.packers import PACKERS

row_lengths = st.integers(1, 40)
# Windows of all kinds: empty, without tokens, much shorter and much longer than a row.
windowed = st.lists(st.lists(st.integers(0, 90), max_size=12), max_size=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("plans")


def plan_of(windows, folder):
    """A plan in which the document of draw n is number n, of one of three sources."""
    first, draws = 0, []
    for lengths in windows:
        number = np.arange(first, first + len(lengths))
        draws.append(Draws((number % 3).astype(np.uint16), number.astype(np.uint64), np.array(lengths, np.uint32)))
        first += len(lengths)
    write_draw_plan(folder / "plan.arrow", ["a", "b", "c"], draws)
    return DrawPlan(folder / "plan.arrow")


def rows_in(planned):
    """Rows and cropped segments, with documents in place of draws."""
    draws, bins = planned
    document = draws.document[bins.draw].tolist()
    segments = list(zip(document, bins.token.tolist(), bins.length.tolist(), strict=True))
    cuts = bins.row_first.tolist()
    return [segments[a:b] for a, b in itertools.pairwise(cuts)], segments[cuts[-1] :]


def rows_of_all(packer, windows, sequence_length, folder):
    plan = plan_of(windows, folder)
    rows, cropped = [], []
    for number in range(len(plan)):
        window_rows, window_cropped = rows_in(packer.plan_window(plan, number, sequence_length))
        rows += window_rows
        cropped += window_cropped
    return rows, cropped


@pytest.mark.parametrize("name", PACKERS)
@given(windows=windowed, sequence_length=row_lengths)
def test_every_token_lies_in_exactly_one_segment(folder, name, windows, sequence_length):
    rows, cropped = rows_of_all(PACKERS[name], windows, sequence_length, folder)
    lengths = [length for window in windows for length in window]
    seen = [np.zeros(length, int) for length in lengths]
    for document, token, length in [*(segment for row in rows for segment in row), *cropped]:
        assert length > 0
        seen[document][token : token + length] += 1
        assert token + length <= lengths[document]
    assert all((times == 1).all() for times in seen)
    assert all(0 < sum(length for _, _, length in row) <= sequence_length for row in rows)
    if name == "wrapped":
        assert all(sum(length for _, _, length in row) == sequence_length for row in rows)
        assert sum(length for _, _, length in cropped) == sum(lengths) % sequence_length
    else:
        assert cropped == []


@given(windowed, row_lengths)
def test_wrapped_is_the_same_however_the_plan_is_cut(folder, windows, sequence_length):
    in_one = [[length for window in windows for length in window]]
    assert rows_of_all(PACKERS["wrapped"], windows, sequence_length, folder) == rows_of_all(
        PACKERS["wrapped"], in_one, sequence_length, folder
    )


@given(windowed.filter(bool), row_lengths, st.data())
def test_best_fit_windows_do_not_know_each_other(folder, windows, sequence_length, data):
    number = data.draw(st.integers(0, len(windows) - 1))
    alone = PACKERS["best_fit"].plan(windows[number], sequence_length)
    among = PACKERS["best_fit"].plan_window(plan_of(windows, folder), number, sequence_length).bins
    for column in ("row_first", "draw", "token", "length"):
        assert np.array_equal(getattr(alone, column), getattr(among, column))


@pytest.mark.parametrize("name", PACKERS)
@given(windows=windowed, sequence_length=row_lengths)
def test_rows_stand_in_the_order_of_their_first_token(folder, name, windows, sequence_length):
    rows, _ = rows_of_all(PACKERS[name], windows, sequence_length, folder)
    per_window = np.cumsum([len(window) for window in windows])
    assert rows == sorted(rows, key=lambda row: (np.searchsorted(per_window, row[0][0], side="right"), row[0]))
    assert all(row == sorted(row) for row in rows)


@given(st.lists(st.integers(0, 90), max_size=30), row_lengths)
def test_bins_describe_their_rows(lengths, sequence_length):
    bins = PACKERS["best_fit"].plan(lengths, sequence_length)
    row_lengths = bins.row_lengths().tolist()
    assert sum(row_lengths) == sum(lengths) == bins.rows * sequence_length - bins.padding_tokens
    starts = bins.starts.tolist()
    for row in range(bins.rows):
        segments = range(bins.row_first[row], bins.row_first[row + 1])
        assert [starts[i] for i in segments] == [sum(bins.length[segments[0] : i]) for i in segments]
        assert row_lengths[row] == sum(bins.length[i] for i in segments)


def test_a_window_of_realistic_documents_is_nearly_full():
    """Within 1 % of the unbounded window, which is within 0.1 % of no padding at all."""
    lengths = np.random.default_rng(0).lognormal(np.log(700) - 0.5, 1, 50_000).astype(np.int64)
    unbounded = PACKERS["best_fit"].plan(lengths, 2048).rows
    windows = sum(PACKERS["best_fit"].plan(part, 2048).rows for part in np.array_split(lengths, 10))
    assert unbounded <= 1.001 * lengths.sum() / 2048
    assert windows <= 1.01 * unbounded

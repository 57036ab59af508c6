from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from gristmill.errors import FormatError
from gristmill.formats.draw_plan import DrawPlan, Draws, Window, write_draw_plan


def draws(*rows):
    source, document, tokens = zip(*rows, strict=True)
    return Draws(np.array(source, np.uint16), np.array(document, np.uint64), np.array(tokens, np.uint32))


WINDOWS = [draws((0, 5, 10), (1, 2**40, 2**32 - 1)), draws((65_535, 0, 7))]


@pytest.fixture
def plan_path(tmp_path):
    path = tmp_path / "plan.arrow"
    assert write_draw_plan(path, ["web", "wíki"], WINDOWS) == 3
    return path


def test_what_is_written_is_read(plan_path):
    plan = DrawPlan(plan_path)
    assert plan.sources == ("web", "wíki")
    assert plan.windows == (Window(0, 2, 0, 2**32 + 9), Window(2, 1, 2**32 + 9, 7))
    assert (plan.draws, plan.tokens) == (3, 2**32 + 16)
    for number, written in enumerate(WINDOWS):
        for column, expected in zip(plan.window_draws(number), written, strict=True):
            assert column.dtype == expected.dtype
            assert column.tolist() == expected.tolist()


def test_columns_are_views_of_the_file(plan_path):
    before = pa.total_allocated_bytes()
    columns = DrawPlan(plan_path).window_draws(0)
    assert pa.total_allocated_bytes() == before
    assert not any(column.flags.owndata for column in columns)


def test_columns_outlive_the_plan(plan_path):
    with DrawPlan(plan_path) as plan:
        columns = plan.window_draws(0)
    assert columns.document.tolist() == [5, 2**40]


def test_the_bytes_are_the_same_each_time(plan_path, tmp_path):
    write_draw_plan(tmp_path / "again.arrow", ["web", "wíki"], iter(WINDOWS))
    assert (tmp_path / "again.arrow").read_bytes() == plan_path.read_bytes()


def test_an_empty_plan(tmp_path):
    write_draw_plan(tmp_path / "plan.arrow", ["web"], [])
    plan = DrawPlan(tmp_path / "plan.arrow")
    assert (len(plan), plan.draws, plan.tokens, plan.windows) == (0, 0, 0, ())


def test_a_failure_leaves_nothing(tmp_path):
    def failing():
        yield WINDOWS[0]
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_draw_plan(tmp_path / "plan.arrow", ["web"], failing())
    assert list(tmp_path.iterdir()) == []


def _other_version(path):
    with pa.ipc.new_file(str(path), pa.schema([], {"gristmill.kind": "draw plan", "gristmill.version": "7"})):
        pass


def _other_arrow(path):
    with pa.ipc.new_file(str(path), pa.schema([("x", pa.int8())])):
        pass


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (_other_version, "found version 7"),
        (_other_arrow, "found an Arrow file that is not ours"),
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "found something else"),
        (lambda path: path.write_bytes(b""), "found something else"),
        (lambda path: path.unlink(), "found something else"),
    ],
)
def test_other_files_are_format_errors(plan_path, spoil, found):
    spoil(plan_path)
    with pytest.raises(FormatError) as caught:
        DrawPlan(plan_path)
    assert str(caught.value).startswith("expected a draw plan of version 1, " + found)
    assert str(plan_path) in str(caught.value)
    assert str(caught.value).endswith("\n  Run `gristmill run` again to rebuild this step.")


def test_a_damaged_window_is_a_format_error(plan_path):
    data = bytearray(plan_path.read_bytes())
    start = data.index(b"\xff\xff\xff\xff", 16) + 4  # after the schema: the first window's header
    data[start : start + 64] = bytes(64)
    plan_path.write_bytes(data)
    with pytest.raises(FormatError, match="found a damaged window 0"):
        DrawPlan(plan_path).window_draws(0)

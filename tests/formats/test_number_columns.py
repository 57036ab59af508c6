from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gristmill.errors import FormatError
from gristmill.formats import number_columns
from gristmill.formats.number_columns import OCCURRENCES, PLACES


def run(*low: int) -> tuple[np.ndarray, ...]:  # type: ignore[type-arg]
    return np.array(low, np.uint64), np.array(low, np.uint64) + 1, np.arange(len(low))


def test_batches_are_read_as_written_and_empty_ones_left_out(tmp_path: Path) -> None:
    path = tmp_path / "found.arrow"
    number_columns.write(path, OCCURRENCES, [run(1, 5, 2**64 - 9), run(), run(0)])
    read = number_columns.read(path, OCCURRENCES)
    assert [[column.tolist() for column in batch] for batch in read] == [
        [column.tolist() for column in batch] for batch in (run(1, 5, 2**64 - 9), run(0))
    ]


def test_places_of_a_chunk_come_from_all_files_in_order(tmp_path: Path) -> None:
    files = {"a": [(0, 7), (2, 1), (2, 8), (3, 0)], "b": [(2, 4)], "c": []}
    for name, rows in files.items():
        chunks, places = np.array([c for c, _ in rows], np.int32), np.array([p for _, p in rows], np.int64)
        number_columns.write(tmp_path / name, PLACES, [(chunks, places)])
    paths = [str(tmp_path / name) for name in files]
    assert number_columns.read_places(paths, 2).tolist() == [1, 4, 8]
    assert number_columns.read_places(paths, 1).tolist() == []


def test_the_bytes_depend_on_the_content_alone(tmp_path: Path) -> None:
    for name in ("a", "b"):
        number_columns.write(tmp_path / name, OCCURRENCES, [run(1, 2)])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("damage", ["other kind", "cut", "missing"])
def test_a_file_that_is_not_what_it_should_be_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "places.arrow"
    number_columns.write(path, OCCURRENCES if damage == "other kind" else PLACES, [])
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif damage == "missing":
        path.unlink()
    with pytest.raises(FormatError, match=r"expected places of version 1, found .*places\.arrow"):
        number_columns.read(path, PLACES)

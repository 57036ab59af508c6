from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from dedup_inputs import duplicates_of, write_sketches
from hypothesis import given
from hypothesis import strategies as st

from gristmill.dedup.exact import Exact
from reference import texts as twin

few_texts = st.lists(st.lists(st.sampled_from(["a", "b", "c", "long " * 20, ""]), max_size=8), min_size=1, max_size=4)


@given(chunks=few_texts, part_docs=st.integers(1, 9))
def test_equals_its_twin(tmp_path_factory: pytest.TempPathFactory, chunks: list[list[str]], part_docs: int) -> None:
    texts = [text for of_chunk in chunks for text in of_chunk]
    expected = {at + 1: first + 1 for at, first in twin.first_of_equal(texts).items()}
    folder = tmp_path_factory.mktemp("sketches")
    assert duplicates_of(Exact(), write_sketches(folder, Exact(), chunks), folder, part_docs) == expected


def test_dropped_rows_do_not_count(tmp_path: Path) -> None:
    files = write_sketches(tmp_path, Exact(), [["same", "same", "same"]], verdicts=[["length.min_words", None, None]])
    assert duplicates_of(Exact(), files, tmp_path) == {3: 2}


def test_rows_that_an_earlier_deduplicator_took_do_not_count(tmp_path: Path) -> None:
    files = write_sketches(tmp_path, Exact(), [["same", "same"], ["same"]], gone=[[0], []])
    assert duplicates_of(Exact(), files, tmp_path) == {3: 2}


def test_odd_file_names(tmp_path: Path) -> None:
    folder = tmp_path / "a 'quoted' [name]*\n"
    folder.mkdir()
    assert duplicates_of(Exact(), write_sketches(folder, Exact(), [["x"], ["x"]]), folder) == {2: 1}


URLS = [
    ("http://Example.org/a", "https://www.example.org:443/a/#top"),
    ("https://example.org", "//example.org/"),
    ("example.org/a?b=C", " http://example.org/a/?b=C\n"),
]


@pytest.mark.parametrize(("one", "other"), URLS)
def test_urls_that_are_the_same(one: str, other: str) -> None:
    assert len(_distinct([one, other])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.org/x", "http://a.org/X"),
        ("http://a.org/?q=1", "http://a.org/?q=2"),
        ("http://a.org", "http://b.org"),
    ],
)
def test_urls_that_differ(one: str, other: str) -> None:
    assert len(_distinct([one, other])) == 2


def test_documents_without_url_are_nobodys_duplicate() -> None:
    assert [*_distinct([None, "", "  ", "#top"])] == [None]


def _distinct(urls: Sequence[str | None]) -> set[object]:
    columns = Exact(on="url").sketch(pa.array(urls, pa.large_string()))
    return set(columns["exact.low"].to_pylist())


def test_two_texts_that_share_half_a_hash_are_two() -> None:
    from gristmill.kernels.equal import pairs_of_equal

    rng = random.Random(1)
    further = np.array([rng.choice([3, 1, 2]) for _ in range(50)], np.uint64)
    positions = np.arange(1, 51)
    lowest, others = np.empty(50, np.int64), np.empty(50, np.int64)
    count = pairs_of_equal(np.full(50, 7, np.uint64), further, positions.copy(), lowest, others)
    first = {half: positions[further == half][0] for half in (1, 2, 3)}
    expected = {(first[int(half)], at) for at, half in zip(positions, further, strict=True) if at != first[int(half)]}
    assert set(zip(lowest[:count], others[:count], strict=True)) == expected


def test_a_survivor_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="expected survivor: lowest, longest"):
        Exact(survivor="best")
    with pytest.raises(ValueError, match="unknown normal form `on` `txt`"):
        Exact(on="txt")

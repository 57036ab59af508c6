from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gristmill.document import buffers
from gristmill.kernels.aho_corasick import SKIPPED, UNSETTLED, automaton, find
from reference import phrases as twin

LETTERS = "abcđ日🙂"  # symbols 1 to 6
SKIP, UNKNOWN = "-", "?"


def symbols() -> Any:
    table = np.zeros(0x110000, np.uint16)
    for symbol, letter in enumerate(LETTERS, 1):
        table[ord(letter)] = symbol
    table[ord(SKIP)], table[ord(UNKNOWN)] = SKIPPED, UNSETTLED
    return table


SYMBOLS = symbols()


def found(phrases: list[str], values: list[str], edge: str = "") -> list[tuple[int, int, int]]:
    machine = automaton([[LETTERS.index(letter) + 1 for letter in phrase] for phrase in phrases], len(LETTERS) + 1)
    offsets, data = buffers(pa.array(["é", *values], pa.large_string()).slice(1))
    counts = find(offsets, data, SYMBOLS, machine, LETTERS.index(edge) + 1 if edge else 0)
    return list(zip(*(column.tolist() for column in counts), strict=True))


def expected(phrases: list[str], value: str, edge: str = "") -> tuple[int, int, int]:
    counts = twin.find(edge + value.replace(SKIP, "") + edge, phrases)
    first = counts["first"]
    return counts["hits"], counts["phrases"], phrases.index(first) if first is not None else -1


some_phrases: Any = st.lists(st.text(LETTERS, min_size=1, max_size=5), min_size=1, max_size=6, unique=True)


@given(some_phrases, st.lists(st.text(LETTERS + SKIP + " \0x", max_size=20), max_size=4))
@example(["a", "ab", "bab", "bc", "bca", "c", "caa"], ["abccab", "", "ab-c cab"])
@example(["aaaa", "aa"], ["aaaaa"])
@example(["a"], ["a" * 100_000])
def test_places_equal_their_twin(phrases: list[str], values: list[str]) -> None:
    assert found(phrases, values) == [expected(phrases, value) for value in values]


@given(some_phrases, st.lists(st.text(LETTERS + SKIP, max_size=8), max_size=4), st.sampled_from(LETTERS))
def test_an_edge_stands_on_both_sides(phrases: list[str], values: list[str], edge: str) -> None:
    several = [phrase for phrase in phrases if phrase != edge] or [edge * 2]
    assert found(several, values, edge) == [expected(several, value, edge) for value in values]


def test_a_text_with_an_unsettled_character_is_given_up() -> None:
    assert [hits for hits, *_ in found(["a", "ab"], ["ab", "ab?ab", "?", "ab"])] == [2, -1, -1, 2]


def test_too_many_symbols_are_refused() -> None:
    with pytest.raises(ValueError, match="fewer than"):
        automaton([[1] * 40_000], 60_000)

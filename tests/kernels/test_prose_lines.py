from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prose_texts import LONG, column, in_a_slice, rows, texts

from gristmill.document import Bytes, Offsets
from gristmill.kernels.prose_lines import measure_prose_lines
from reference.prose_lines import prose_lines

endings = st.none() | st.lists(st.sampled_from([".", "!", "...", "。", "a", "\u00a0", "語", "", " "]), max_size=4)


def check(offsets: Offsets, data: Bytes, values: list[str], marks: list[str] | None, short: int) -> None:
    expected = [prose_lines(value, marks, short) for value in values]
    assert rows(measure_prose_lines(offsets, data, marks, short)) == expected


@settings(max_examples=300)
@given(st.lists(texts, max_size=4), endings, st.sampled_from([0, 1, 2, 30, 63, 64, 65]))
@example(["", "\n", " \n\t", "a.\na.\n\na. ", "。\n. \n؟", "é\né\r\né\r", "\u2028.\n"], None, 1)
@example(["a", "."], [], 0)
def test_equals_its_twin(values: list[str], marks: list[str] | None, short: int) -> None:
    check(*column(values), values, marks, short)
    check(*in_a_slice(values), values, marks, short)


@pytest.mark.parametrize("name", [name for name in LONG if not name.startswith("numbered")])
def test_long_documents(name: str) -> None:
    check(*column([LONG[name]]), [LONG[name]], None, 30)


def test_many_different_lines() -> None:
    """More than a twin that looks through all of them can do."""
    counts = measure_prose_lines(*column([LONG["numbered lines"] * 2]), [".", "9"], 8)
    assert rows(counts) == [
        {
            "lines": 220_000,
            "ending_lines": 22_000,
            "short_lines": 220_000,
            "duplicate_characters": 8 * 110_000,
            "characters": 8 * 220_000,
            "newlines": 220_000,
        }
    ]

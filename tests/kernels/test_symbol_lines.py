from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.document import buffers, strings
from gristmill.kernels.symbol_lines import punctuation, remove_symbol_lines
from reference import symbol_lines as twin

PUNCTUATION = frozenset(map(chr, punctuation().tolist()))
SYMBOLS = [PUNCTUATION, frozenset("*-"), frozenset("—漢 \t\u3000"), frozenset()]
LINES = [
    "", " ", "\t", "*", "* * *", "-" * 70, "*a", "a*", "\u3000", "\u3000*", "*\t", "。", "…！", "１", "漢", "e\u0301",
    "🙂", "\0", "\x1f", "\x7f", "\xa0", "\xa0-", "word", "— dash —", "«»", "x" * 63, "*" * 64, "*" * 200 + "x", "ـ",
    "־",
]  # fmt: skip
ENDS = ["\n", "\r\n", "\r", "\x0b", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\n\n", ""]


def removed(texts: list[str], symbols: frozenset[str], mark: str) -> list[str]:
    offsets, data = buffers(pa.array(["* \n*", *texts], pa.large_string()).slice(1))
    result: Any = strings(*remove_symbol_lines(offsets, data, map(ord, symbols), mark))
    result.validate(full=True)
    return result.to_pylist()  # type: ignore[no-any-return]


lines = st.one_of(st.sampled_from(LINES), st.text(st.characters(exclude_categories=["Cs"]), max_size=5))


@settings(max_examples=400)
@given(
    texts=st.lists(st.lists(st.tuples(lines, st.sampled_from(ENDS)).map("".join), max_size=8).map("".join), max_size=3),
    symbols=st.sampled_from(SYMBOLS),
    mark=st.sampled_from(["", "\n", "<a mark that is longer than many a line>"]),
)
@example(texts=["\n".join(LINES), "\r\n".join(reversed(LINES))], symbols=PUNCTUATION, mark="")
@example(texts=["*\n" * 100_000], symbols=PUNCTUATION, mark="long mark")
@example(texts=["*\nx\n" * 1000], symbols=PUNCTUATION, mark="long mark")
@example(texts=["x" * 1_000_000, "\n" * 1_000_000, "*" * 1_000_000], symbols=PUNCTUATION, mark="\n")
def test_equals_its_twin(texts: list[str], symbols: frozenset[str], mark: str) -> None:
    assert removed(texts, symbols, mark) == [twin.remove_symbol_lines(text, symbols, mark) for text in texts]


def test_the_set_is_datatroves() -> None:
    assert pytest.importorskip("datatrove.utils.text").PUNCTUATION_SET == PUNCTUATION

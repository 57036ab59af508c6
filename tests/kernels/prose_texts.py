"""Documents that repeat themselves, in lines, paragraphs and words, as a hypothesis strategy; and long ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from word_texts import texts as any_texts

from gristmill.document import Bytes, Offsets, buffers
from gristmill.kernels.words import Words, split_at_white_space, split_words

SPLITTERS = {"spacy-en": split_words, "whitespace": split_at_white_space}
# Few and alike: so that n-grams repeat, and joined words equal other joined words (`a b`, `ab`).
WORDS = [
    "a",
    "b",
    "ab",
    "ba",
    "the",
    "to",
    "that",
    "well-known",
    "#",
    "...",
    "…",
    "•",
    "-",
    "1",
    "日本",
    "語",
    "é",
    "e\u0301",
]
WORDS += ["😀", "אב", "\0", "x" * 63, "y" * 64, "z" * 65, "wordwordw", "wordwordx", "End.", "end!", "。", "١"]
SPACES = [" "] * 8 + ["  ", "\t", "\u00a0", "\u3000", "\u2028", "\x1c", "\x85"]
ENDS = ["\n", "\n", "\n\n", "\n\n\n", "\r\n", "\r\n\r\n", "\r", " \n", "\n ", "\n \n", "\x0b", "\f", "\u2029"]

lines: Any = st.lists(
    st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES)).map("".join), min_size=0, max_size=12
).map("".join)
blocks: Any = st.one_of(
    st.tuples(lines, st.sampled_from(ENDS)).map("".join), any_texts, st.sampled_from(["\n", "\n\n", "..."])
)
# A few different blocks, each of them possibly many times.
texts: Any = st.lists(st.tuples(blocks, st.sampled_from([1, 1, 1, 2, 3, 9, 300])), max_size=6).flatmap(
    lambda parts: (
        st.permutations([block for block, times in parts for _ in range(min(times, 9))] + [""]).map("".join)
        | st.just("".join(block * times for block, times in parts))
    )
)

LONG = {
    "one word": "x" * 1_000_000,
    "no blank": "界" * 333_333,
    "newlines": "\n" * 1_000_000,
    "blanks": " " * 1_000_000,
    "carriage returns": "\r\n" * 500_000,
    "separators": "\u2028" * 333_333,
    "equal lines": "a line\n" * 140_000,
    "equal words": "word " * 200_000,
    "two words in turn": "to and " * 140_000,
    "symbols": "(" * 100_000,
    "full stops": "." * 1_000_000,
    "bullets": "- \n" * 300_000,
    "numbered lines": "".join(f"{number:08}\n" for number in range(110_000)),
    "numbers backwards": "".join(f"{number:08} "[::-1] for number in range(110_000)),
    "numbered long lines": "".join(f"the same again {number:09}\n" for number in range(40_000)),
    "numbers": "".join(f"{number} " for number in range(150_000)),
}


def column(values: list[str]) -> tuple[Offsets, Bytes]:
    return buffers(pa.array(values, pa.large_string()))


def in_a_slice(values: list[str]) -> tuple[Offsets, Bytes]:
    """The same documents in the middle of a longer column, whose buffer ends with them."""
    return buffers(pa.array(["before é\n", *values], pa.large_string()).slice(1))


def words_of(words: Words) -> Iterator[list[str]]:
    """The words of each document."""
    for first, last in pairwise(words.first.tolist()):
        bounds = zip(words.start[first:last].tolist(), words.stop[first:last].tolist(), strict=True)
        yield [words.data[start:stop].tobytes().decode() for start, stop in bounds]


def rows(counts: Any) -> list[dict[str, float]]:
    """A named tuple of columns as a dictionary for each document."""
    return [dict(zip(counts._fields, row, strict=True)) for row in np.array(counts).T.tolist()]

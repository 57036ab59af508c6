from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gristmill.document import buffers, large_strings
from gristmill.kernels import minhash_mersenne
from gristmill.kernels.words import split_at_white_space
from reference import minhash_mersenne as twin

a_word = st.one_of(
    st.sampled_from(["a", "mill", "grinding", "é", "한", "x" * 40]), st.text("abé한", min_size=1, max_size=20)
)
documents = st.lists(st.lists(a_word, max_size=12), max_size=5)
numbers = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**61 - 2, 2**61 - 1, 2**61, 2**64 - 1])


@given(documents, st.integers(1, 4))
def test_shingles_equal_their_twin(given_documents: list[list[str]], ngram: int) -> None:
    texts = [" ".join(words) for words in given_documents]
    offsets, data = buffers(large_strings([*texts, " " * 64]))  # what the kernel may read behind the last word
    found = minhash_mersenne.hash_shingles(split_at_white_space(offsets[:-1], data), ngram)
    expected = [twin.shingle_hashes(words, ngram) for words in given_documents]
    assert found[0].tolist() == np.cumsum([0, *map(len, expected)]).tolist()
    assert found[1].tolist() == [one for of_document in expected for one in of_document]


@given(
    st.lists(st.lists(numbers, max_size=5), max_size=4),
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20),
    st.sampled_from([2**64 - 1, 2**32 - 1]),
)
def test_minima_equal_their_twin(hashes: list[list[int]], constants: list[tuple[int, int]], mask: int) -> None:
    offsets = np.cumsum([0, *map(len, hashes)], dtype=np.int64)
    flat = np.array([one for of_document in hashes for one in of_document], np.uint64)
    factors, addends = (np.array(column, np.uint64) for column in zip(*constants, strict=True))
    found = minhash_mersenne.minima(offsets, flat, factors, addends, mask)
    assert found.tolist() == [twin.minima(of_document, constants, mask) for of_document in hashes]

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.document import buffers, large_strings
from gristmill.kernels import minhash
from gristmill.kernels.words import Words, split_at_white_space
from reference import minhash as twin

a_word = st.one_of(
    st.sampled_from(["a", "mill", "grinding", "é", "한", "x" * 9]), st.text("abé한", min_size=1, max_size=20)
)
documents = st.lists(st.lists(a_word, max_size=12), max_size=5)


def words_of(given_documents: list[list[str]]) -> Words:
    texts = [" ".join(words) for words in given_documents]
    offsets, data = buffers(large_strings([*texts, " " * 64]))  # what the kernel may read behind the last word
    return split_at_white_space(offsets[:-1], data)


@given(documents, st.integers(1, 4), st.integers(1, 5), st.integers(1, 7))
def test_signatures_equal_their_twin(given_documents: list[list[str]], ngram: int, buckets: int, each: int) -> None:
    hashes, without = minhash.sign(words_of(given_documents), ngram, buckets, each)
    for number, words in enumerate(given_documents):
        expected = twin.signature(words, ngram, buckets, each)
        assert bool(without[number]) == (expected is None)
        if expected is not None:
            assert hashes[:, number].tolist() == expected


@given(documents, st.integers(1, 4))
def test_sets_equal_their_twin(given_documents: list[list[str]], ngram: int) -> None:
    offsets, hashes = minhash.shingle_sets(words_of(given_documents), ngram)
    sets = [hashes[start:stop] for start, stop in pairwise(offsets)]
    for words, found in zip(given_documents, sets, strict=True):
        assert found.tolist() == sorted(map(twin.hash_shingle, twin.shingles(words, ngram)))
    for one, of_one in zip(given_documents, sets, strict=True):
        for other, of_other in zip(given_documents, sets, strict=True):
            expected = twin.jaccard(twin.shingles(one, ngram), twin.shingles(other, ngram))
            assert minhash.jaccard(of_one, of_other) == pytest.approx(expected)


def test_permutations_are_always_the_same() -> None:
    odds, salts = minhash.permutations(112)
    assert list(zip(odds.tolist(), salts.tolist(), strict=True)) == twin.permutations(112)
    assert (minhash.permutations(20).odds[:20] == odds[:20]).all()


def test_a_very_long_document() -> None:
    words = [str(number) for number in range(20_000)]
    hashes, _ = minhash.sign(words_of([words]), 5, 3, 4)
    assert hashes[:, 0].tolist() == twin.signature(words, 5, 3, 4)
    assert np.diff(minhash.shingle_sets(words_of([words]), 5)[0]).tolist() == [19_996]

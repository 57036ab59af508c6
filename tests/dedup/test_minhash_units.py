from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from dedup_inputs import duplicates_of, write_sketches
from hypothesis import given
from hypothesis import strategies as st

from gristmill.dedup.curve import chance
from gristmill.dedup.minhash import MinHash
from reference import minhash as twin

UNIT = MinHash(ngram=2, buckets=3, hashes_per_bucket=2)
few_words = st.lists(st.sampled_from("abcdef"), max_size=7).map(" ".join)


@given(chunks=st.lists(st.lists(few_words, max_size=8), min_size=1, max_size=4), part_docs=st.integers(1, 9))
def test_clusters_equal_their_twin(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[list[str]], part_docs: int
) -> None:
    signatures = [twin.signature(text.split(), 2, 3, 2) for of_chunk in chunks for text in of_chunk]
    expected = {at + 1: lowest + 1 for at, lowest in twin.lowest_of_clusters(signatures).items()}
    folder = tmp_path_factory.mktemp("sketches")
    assert duplicates_of(UNIT, write_sketches(folder, UNIT, chunks), folder, part_docs) == expected


def test_shingles_are_datatroves(tmp_path: Path) -> None:
    """The sets, up to the hash: as many, and shared by the same texts."""
    minhash = pytest.importorskip("datatrove.pipeline.dedup.minhash")
    pytest.importorskip("spacy")
    texts = [
        "Don't cross the river; it's 3.5 km wide, and cannot be swum, he said.",
        "don t CROSS the river! it s 3,5km wide and cannot be swum he said",
        "Xin chào các bạn, hôm nay trời đẹp quá, mình đi chơi nhé!",
        "Ça coûte 1.234,56 €; l'élève n'a pas d'argent — hélas, dommage…",
        "한국어 문장입니다. 오늘은 날씨가 좋네요, 그렇죠?",
        "four words are few",
        "",
    ]
    their_step = minhash.MinhashDedupSignature(str(tmp_path))
    theirs = [set(their_step.get_shingles(text).ravel().tolist()) for text in texts]
    offsets, hashes = MinHash().shingle_sets(pa.array(texts, pa.large_string()))
    ours = [set(hashes[start:stop].tolist()) for start, stop in pairwise(offsets)]
    assert [len(of_text) for of_text in ours] == [len(of_text) for of_text in theirs]
    for one in range(len(texts)):
        for other in range(len(texts)):
            assert len(ours[one] & ours[other]) == len(theirs[one] & theirs[other])


@pytest.mark.parametrize(("shared", "pairs"), [(50, 3000), (70, 3000), (80, 3000), (90, 1000)])
def test_what_is_found_follows_the_curve(shared: int, pairs: int) -> None:
    """Pairs of texts of known similarity; the share that is found lies within 4 standard deviations of the curve."""
    rng = random.Random(shared)
    unit = MinHash(ngram=1)
    texts = []
    for _ in range(pairs):
        words = [f"w{''.join(rng.choices('abcdefghijklmnop', k=9))}" for _ in range(200)]
        own = (200 - 2 * shared) // 2 if shared <= 100 else 0
        common, left, right = words[: 2 * shared], words[2 * shared :][:own], words[2 * shared :][own : 2 * own]
        texts += [" ".join(common + left), " ".join(common + right)]
    similarity = 2 * shared / 200
    columns = unit.sketch(pa.array(texts, pa.large_string()))
    hashes = np.array([column.to_numpy() for column in columns.values()])
    found = (hashes[:, ::2] == hashes[:, 1::2]).any(axis=0).mean()
    expected = chance(similarity, *unit.shape())
    assert abs(found - expected) < 4 * (expected * (1 - expected) / pairs) ** 0.5 + 1e-9


def test_texts_without_ngrams_are_nobodys_duplicates(tmp_path: Path) -> None:
    files = write_sketches(tmp_path, MinHash(), [["four words are few"] * 3 + [""] * 2])
    assert duplicates_of(MinHash(), files, tmp_path) == {}


def test_a_batch_does_not_matter() -> None:
    texts = [f"text number {number} of these, and so many words more {number % 3}" for number in range(30)]
    whole = MinHash().sketch(pa.array(texts, pa.large_string()))
    pieces = [MinHash().sketch(pa.array(texts, pa.large_string())[start : start + 7]) for start in range(0, 30, 7)]
    for name, column in whole.items():
        assert [hash_ for piece in pieces for hash_ in piece[name].to_pylist()] == column.to_pylist()

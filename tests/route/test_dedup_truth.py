"""MinHash through the whole route against the truth: near duplicates of known similarity, planted into real documents.

Similarity is the exact Jaccard similarity of the sets of 5-grams. What the route finds of each group of pairs has to
lie within four standard deviations of what the curve says; what it drops must have been planted.
"""

from __future__ import annotations

import gzip
import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dedup_route import drops_of, run_dedup
from route_inputs import make_recipe, write_jsonl

from gristmill.dedup.curve import chance
from gristmill.dedup.minhash import MinHash

SIMILARITIES = (0.5, 0.6, 0.7, 0.8, 0.9)
PAIRS_EACH = 150
_WORDS = (120, 600)


class Planted(NamedTuple):
    folder: Path
    jaccard: dict[tuple[int, int], float]  # (row of the first, row of the second): all pairs of some similarity
    of_group: dict[tuple[int, int], float]  # the planted pairs, and the similarity that was aimed at


def real_texts(corpora: Path) -> list[list[str]]:
    """The words of English documents of some length, cut to it."""
    with gzip.open(corpora / "english-docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    texts += pq.read_table(corpora / "english-prose.parquet", columns=["text"])["text"].to_pylist()
    split = [text.split() for text in texts]
    return [words[: _WORDS[1]] for words in split if len(words) >= _WORDS[0]]


def sets_of(texts: list[str]) -> list[set[int]]:
    offsets, hashes = MinHash().shingle_sets(pa.array(texts, pa.large_string()))
    return [set(hashes[start:stop].tolist()) for start, stop in pairwise(offsets)]


def alone(texts: list[list[str]]) -> list[list[str]]:
    """Only texts of which a twentieth at most is in those before them: what is not planted is like nothing."""
    seen: set[int] = set()
    chosen = []
    for words, own in zip(texts, sets_of([" ".join(words) for words in texts]), strict=True):
        if len(own & seen) <= 0.05 * len(own):
            chosen.append(words)
        seen |= own
    return chosen


@pytest.fixture(scope="module")
def planted(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    rng = random.Random(1)
    real = alone(real_texts(corpora))
    rng.shuffle(real)
    count = len(SIMILARITIES) * PAIRS_EACH
    assert len(real) >= 2 * count, "the test wants more real documents"
    texts, aimed_at = [], []
    for number, (words, donor) in enumerate(zip(real[:count], real[count : 2 * count], strict=True)):
        similarity = SIMILARITIES[number % len(SIMILARITIES)]
        changed = round(len(words) * (1 - similarity) / (1 + similarity)) - 4  # each end spoils four more 5-grams
        begin = rng.randrange(4, len(words) - changed - 4)
        put = (donor * 6)[:changed]
        texts += [" ".join(words), " ".join([*words[:begin], *put, *words[begin + changed :]])]
        aimed_at.append(similarity)
    order = list(range(len(texts)))
    rng.shuffle(order)
    row_of = {text: row for row, text in enumerate(order)}
    folder = tmp_path_factory.mktemp("planted")
    write_jsonl(folder / "raw.jsonl", [texts[text] for text in order])
    sets = sets_of(texts)
    of_group, jaccard = {}, {}
    for number, similarity in enumerate(aimed_at):
        one, other = sets[2 * number], sets[2 * number + 1]
        pair = tuple(sorted((row_of[2 * number], row_of[2 * number + 1])))
        of_group[pair], jaccard[pair] = similarity, len(one & other) / len(one | other)
    return Planted(folder, jaccard, of_group)


def found_by(planted: Planted, **parameters: Any) -> set[tuple[int, int]]:
    """(row that stays, row that goes), after the route up to and with dedup."""
    output = planted.folder / "-".join(["out", *map(str, parameters.values())])
    run_dedup(
        make_recipe(
            planted.folder, sources=[{"name": "one", "path": str(planted.folder / "raw.jsonl")}], filters=[],
            dedup=[{"minhash": parameters}], output={"path": str(output), "chunk": "500kB"},
        )
    )  # fmt: skip
    drops = drops_of(output, "minhash")
    return {(stays[1], row) for (_, row), stays in drops.items() if stays is not None}


def assert_on_the_curve(found: set[tuple[int, int]], similarities: dict[tuple[int, int], float]) -> None:
    chances = np.array([chance(similarity, *MinHash().shape()) for similarity in similarities.values()])
    hits = sum(pair in found for pair in similarities)
    assert abs(hits - chances.sum()) <= 4 * np.sqrt((chances * (1 - chances)).sum()) + 0.5


def test_recall_follows_the_curve(planted: Planted) -> None:
    found = found_by(planted)
    assert found <= set(planted.jaccard), "something went that is like nothing"
    for group in SIMILARITIES:
        pairs = {pair: planted.jaccard[pair] for pair, aimed_at in planted.of_group.items() if aimed_at == group}
        assert len(pairs) == PAIRS_EACH and abs(np.mean(list(pairs.values())) - group) < 0.05
        assert_on_the_curve(found, pairs)


@pytest.mark.parametrize("least", [0.7, 0.85])
def test_confirmed_precision_is_one(planted: Planted, least: float) -> None:
    found = found_by(planted, confirm=least)
    wanted = {pair: similarity for pair, similarity in planted.jaccard.items() if similarity >= least}
    assert found <= set(wanted)
    assert_on_the_curve(found, wanted)

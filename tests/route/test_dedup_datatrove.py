"""MinHash against datatrove's own four steps: the same documents go, up to the hash functions."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from dedup_route import dedup_recipe, drops_of, made_word, run_dedup
from route_inputs import write_jsonl

PAIRS = 150


def planted() -> list[str]:
    """Pairs whose sets of 5-grams have a Jaccard similarity above 0.9, and as many texts that are like no other."""
    rng = random.Random(4)

    def text() -> list[str]:
        return [
            rng.choice(["the", "Mill", "grain,", "don’t", "3.5", made_word(rng), made_word(rng)]) for _ in range(300)
        ]

    texts = []
    for _ in range(PAIRS):
        words = text()
        changed = [*words[:150], "changed", *words[151:]]
        texts += [" ".join(words), " ".join(changed), " ".join(text())]
    rng.shuffle(texts)
    return texts


def their_removed(folder: Path) -> set[int]:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader

    config = MinhashConfig()
    signatures, buckets, removed = (str(folder / name) for name in ("signatures", "buckets", "removed"))
    reader = JsonlReader(str(folder / "raw"), glob_pattern="one.jsonl", compression=None, id_key="name")
    steps = [
        (1, [reader, MinhashDedupSignature(signatures, config)]),
        (config.num_buckets, [MinhashDedupBuckets(signatures, buckets, config=config)]),
        (1, [MinhashDedupCluster(buckets, removed, config)]),
    ]
    for number, (tasks, pipeline) in enumerate(steps):
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=1, logging_dir=str(folder / f"logs_{number}")).run()
    raw = (folder / "removed" / "000000.remove").read_bytes()
    return {row for (row,) in struct.iter_unpack("<I", raw)}


def test_the_same_documents_go_as_with_datatrove(tmp_path: Path) -> None:
    pytest.importorskip("datatrove.pipeline.dedup")
    pytest.importorskip("spacy")
    write_jsonl(tmp_path / "raw" / "one.jsonl", planted())
    theirs = their_removed(tmp_path)
    run_dedup(dedup_recipe(tmp_path, ["minhash"], filters=[]))
    drops = drops_of(tmp_path / "out", "minhash")
    ours = {row for source, row in drops if source == "one"}
    assert len(ours) >= 0.99 * PAIRS
    assert len(ours & theirs) >= 0.99 * len(ours | theirs)

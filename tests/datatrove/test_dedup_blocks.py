"""datatrove's deduplication and tokenization with our blocks: every file is the same, also those between the steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from block_twins import Pipelines, check_twins, our_blocks, run, their_blocks

pytest.importorskip("spacy")


def minhash(raw: str, tasks: int, signature: dict[str, Any], cluster: dict[str, Any], **buckets: Any) -> Pipelines:
    from datatrove.pipeline.dedup import MinhashConfig
    from datatrove.utils.hashing import HashConfig

    config = MinhashConfig(num_buckets=4, hashes_per_bucket=3, **signature)
    workers = buckets.pop("workers_per_bucket", 1)
    loads = {f"load_{name.removeprefix('save_')}s": value for name, value in cluster.items()}
    assert isinstance(config.hash_config, HashConfig)

    def make(blocks: Any, folder: Path) -> list[tuple[int, list[Any]]]:
        at = {name: str(folder / name) for name in ("signatures", "pairs", "removed", "kept", "gone", "index")}
        index = {"index_folder": at["index"], **buckets} if buckets else {}
        reader = lambda: blocks.JsonlReader(raw)  # noqa: E731
        return [
            (tasks, [reader(), blocks.MinhashDedupSignature(at["signatures"], config)]),
            (4 * workers, [blocks.MinhashDedupBuckets(at["signatures"], at["pairs"], config=config, **index)]),
            (1, [blocks.MinhashDedupCluster(at["pairs"], at["removed"], config, **cluster)]),
            (tasks, [reader(),
                     blocks.MinhashDedupFilter(at["removed"], blocks.JsonlWriter(at["gone"]), **loads),
                     blocks.JsonlWriter(at["kept"])]),
        ]  # fmt: skip

    return make


def test_minhash(raw: str, tmp_path: Path) -> None:
    found = check_twins(minhash(raw, 4, {}, {}), tmp_path)
    assert sum(len(content.splitlines()) for name, content in found.items() if name.startswith("gone")) > 5


def test_minhash_with_other_hashes_and_all_that_can_be_saved(raw: str, tmp_path: Path) -> None:
    from datatrove.utils.hashing import HashConfig

    config = {"n_grams": 3, "seed": 7, "hash_config": HashConfig(precision=32, hash_fc="sha1")}
    saved = {"save_cluster_id": True, "save_cluster_size": True}
    check_twins(minhash(raw, 2, config, saved, workers_per_bucket=2), tmp_path)


def test_minhash_against_an_index(raw: str, tmp_path: Path) -> None:
    """The first run makes an index, the second finds everything in it, the third is asked to look at nothing else."""

    def make(blocks: Any, folder: Path) -> list[tuple[int, list[Any]]]:
        steps = minhash(raw, 2, {}, {"save_cluster_size": True}, create_index_name="first")(blocks, folder)
        for name, only in (("second", False), ("third", True)):
            more = minhash(raw, 2, {}, {}, create_index_name=name, only_dedup_in_index=only)(blocks, folder)
            steps += more[1:3]
        return steps

    found = check_twins(make, tmp_path)
    assert len(found["index/bucket_000/first_00.minhash.index"]) > 1000


def test_steps_of_datatroves_and_ours_follow_each_other(raw: str, tmp_path: Path) -> None:
    """Signatures and clusters by us, pairs by them: the documents are the same."""
    from types import SimpleNamespace

    ours, theirs = our_blocks(), their_blocks()
    mixed = SimpleNamespace(**{**vars(theirs), "MinhashDedupSignature": ours.MinhashDedupSignature,
                               "MinhashDedupCluster": ours.MinhashDedupCluster})  # fmt: skip
    stats = [run(minhash(raw, 3, {}, {}), blocks, tmp_path / name) for name, blocks in
             (("mixed", mixed), ("theirs", theirs))]  # fmt: skip
    assert stats[0] == stats[1]


def sentences(raw: str, tasks: int, finders: int, **config: Any) -> Pipelines:
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig

    asked = SentDedupConfig(**config)

    def make(blocks: Any, folder: Path) -> list[tuple[int, list[Any]]]:
        at = {name: str(folder / name) for name in ("signatures", "found", "kept", "gone")}
        return [
            (tasks, [blocks.JsonlReader(raw), blocks.SentenceDedupSignature(at["signatures"], finders, asked)]),
            (finders, [blocks.SentenceFindDedups(at["signatures"], at["found"], config=asked)]),
            (tasks, [blocks.JsonlReader(raw),
                     blocks.SentenceDedupFilter(at["found"], asked, blocks.JsonlWriter(at["gone"])),
                     blocks.JsonlWriter(at["kept"])]),
        ]  # fmt: skip

    return make


@pytest.mark.parametrize(
    ("tasks", "finders", "config"),
    [
        (4, 1, {}),
        (3, 2, {"n_sentences": 2, "min_doc_words": 5, "min_num_sentences": 1, "min_words_to_remove_span": 6}),
        (1, 1, {"split_sentences": False, "min_doc_words": 0, "min_num_sentences": 0}),
    ],
)
def test_sentences(raw: str, tmp_path: Path, tasks: int, finders: int, config: dict[str, Any]) -> None:
    found = check_twins(sentences(raw, tasks, finders, **config), tmp_path)
    assert b">>>" in found["gone/00000.jsonl.gz"]


def test_sentences_in_two_workers(raw: str, tmp_path: Path) -> None:
    check_twins(sentences(raw, 4, 2), tmp_path, workers=2)


def test_sentences_against_an_index(raw: str, tmp_path: Path) -> None:
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig, SentenceDedupBuildIndex

    def make(blocks: Any, folder: Path) -> list[tuple[int, list[Any]]]:
        signatures, index = str(folder / "signatures"), str(folder / "index")
        return [
            (2, [blocks.JsonlReader(raw), blocks.SentenceDedupSignature(signatures, config=SentDedupConfig())]),
            (1, [SentenceDedupBuildIndex(signatures, index, "one")]),
            (1, [blocks.SentenceFindDedups(signatures, str(folder / "found"), index)]),
        ]

    check_twins(make, tmp_path)


@pytest.fixture
def tokenizer(gpt2: Path) -> str:
    return str(gpt2)


@pytest.mark.parametrize(
    "options",
    [
        {"shuffle_documents": False, "eos_token": None},
        {"eos_token": "<|endoftext|>", "seed": 3, "max_tokens_per_file": 20_000},
        {"eos_token": "<|endoftext|>", "seed": 3, "shuffle_chunk_size": 128, "save_filename": "web"},
        {"save_loss_metadata": True, "seed": 1, "save_index": False, "save_final_metadata": False},
    ],
)
def test_tokens(raw: str, tokenizer: str, tmp_path: Path, options: dict[str, Any]) -> None:
    def make(blocks: Any, folder: Path) -> list[tuple[int, list[Any]]]:
        def silence(documents: Any, rank: int = 0, world_size: int = 1) -> Any:
            for number, document in enumerate(documents):
                if number % 3 == 0 and len(document.text) > 60:
                    document.metadata["no_loss_ranges"] = [(0, 10), (40, len(document.text) + 5 * (number % 2))]
                yield document

        steps = [blocks.JsonlReader(raw), silence, blocks.DocumentTokenizer(str(folder / "t"), tokenizer, **options)]
        return [(2, steps)]

    found = check_twins(make, tmp_path)
    assert sum(len(content) for name, content in found.items() if name.endswith(".ds")) > 100_000

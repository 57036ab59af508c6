"""A krill config as a recipe, so that route, ledger, resume and bounded memory are those of every run.

What enters: a config. What leaves: a recipe whose rows are krill's: clean and strip, at least 100 characters, the first
of equal texts, special tokens and then an EOS, at least `min_length` tokens, wrapped, the short last row dropped; the
datasets one behind the other, in their order. And what a tokenizer's own files say that krill goes by.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gristmill.compat.krill.schema import Dataset, KrillConfig
from gristmill.errors import RecipeError
from gristmill.recipe import Recipe, Source
from gristmill.tokens import tokenizer as tokenizers

_MIN_CHARACTERS = 100
_DOCUMENT_BYTES = 3_300  # so that krill's 10,000 documents a chunk are our usual 32 MB
_SMALLEST_CHUNK_BYTES = 1 << 20
_CHUNK_SHARE_OF_MEMORY = 64  # a chunk is read, cleaned and encoded by several workers, each with its forms
_FIRST_ROWS = re.compile(r"\w+\[:(\d+)\]")
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
# Classes whose rows carry token_type_ids where the tokenizer's config does not say so.
_WITH_TOKEN_TYPES = re.compile(
    r"PreTrainedTokenizerFast|TokenizersBackend|(Albert|Bert|DebertaV2|Electra|XLNet)Tokenizer.*"
)


def work_folder(config: KrillConfig) -> Path:
    """Where the run keeps what it makes on the way: beside the dataset, so that it can be resumed and reported on."""
    prepared = Path(config.preprocess.prepared_path)
    return prepared.with_name(prepared.name + ".gristmill")


def recipe_of(config: KrillConfig, memory_bytes: int | None = None, workers: int | None = None) -> Recipe:
    """The recipe. A memory limit makes chunks and windows smaller, which changes no row."""
    asked = config.preprocess
    engine: dict[str, Any] = {"memory": memory_bytes, "workers": workers}
    datatrove = config.datatrove if config.datatrove.enabled else None
    filters: list[Any] = [{"length": {"min_characters": _MIN_CHARACTERS}}]
    deduplicator = "exact"
    if datatrove is not None:
        wanted = datatrove.pipeline_config
        filters += wanted.quality_filters
        deduplicator = wanted.deduplication
        engine |= {"blocks": "datatrove", "workers": workers or (None if wanted.distributed else 1)}
    chunk_bytes = asked.chunk_size * _DOCUMENT_BYTES
    pack: dict[str, Any] = {"strategy": "wrapped", "sequence_length": asked.sequence_len}
    if memory_bytes is not None:
        chunk_bytes = min(chunk_bytes, memory_bytes // _CHUNK_SHARE_OF_MEMORY)
        pack["window"] = max(asked.sequence_len, memory_bytes // (4 * _CHUNK_SHARE_OF_MEMORY))
    return Recipe.from_dict(
        {
            "sources": [_source(number, dataset) for number, dataset in enumerate(config.datasets)],
            "clean": [{"unicode": {"remove_nul": False}}, "strip"],
            "filters": filters,
            "dedup": [{deduplicator: {"index": asked.dedup_cache_dir} if asked.dedup_cache_dir else {}}],
            "tokenizer": _tokenizer(config),
            "mixture": {"shuffle": False, "order": "concatenated"},
            "pack": pack,
            "output": {
                "path": str(work_folder(config)),
                "keep_dropped": False,
                "chunk": max(chunk_bytes, _SMALLEST_CHUNK_BYTES),
            },
            "engine": {key: value for key, value in engine.items() if value is not None},
        },
        "the recipe made of krill's config",
    )


def sources_of(config: KrillConfig) -> list[Source]:
    """The datasets alone, as sources."""
    return [Source(**_source(number, dataset)) for number, dataset in enumerate(config.datasets)]


def _source(number: int, dataset: Dataset) -> dict[str, Any]:
    """Files are read by us, everything else by `datasets`, with its splits and slices."""
    name = _NO_NAME.sub("-", Path(dataset.path).name) or "dataset"
    source: dict[str, Any] = {
        "name": f"{number:02}-{name}"[:100],
        "text_column": dataset.text_column,
        "max_unreadable_ratio": 1.0,  # what is no text is an empty text to krill, and dropped as too short
    }
    if not Path(dataset.path).is_file():
        return {**source, "dataset": dataset.path, "split": dataset.split}
    source["path"] = dataset.path
    if first := _FIRST_ROWS.fullmatch(dataset.split):
        source["limit"] = int(first[1])
    elif not dataset.split.isidentifier():
        raise RecipeError(
            f"expected a split such as train or train[:1000] of a file, found {dataset.split!r}: {dataset.path}\n"
            "  Put the file into a folder of its own and name the folder, for any slice that `datasets` knows."
        )
    return source


def _tokenizer(config: KrillConfig) -> dict[str, Any]:
    """EOS behind every document where the tokenizer's files declare one, also where it adds one by itself."""
    hub_id = config.tokenizer.hub_id
    declared = tokenizers.declared(hub_id)
    has_eos = declared.eos_token is not None or not declared.files
    where = {"path": hub_id} if Path(hub_id).exists() else {"hub": hub_id}
    return {
        **where,
        "special_tokens": True,
        "append_eos": "always" if has_eos else False,
        "eos_token": declared.eos_token,
        "min_tokens": config.preprocess.min_length,
    }


def columns_of(config: KrillConfig) -> list[str]:
    """The dataset's columns: what the tokenizer gives, as far as its files say."""
    content = tokenizers.declared(config.tokenizer.hub_id).files.get("tokenizer_config.json")
    described = json.loads(content) if content is not None else {}
    inputs = described.get("model_input_names")
    if inputs is None:
        emits = _WITH_TOKEN_TYPES.fullmatch(described.get("tokenizer_class") or "") is not None
    else:
        emits = "token_type_ids" in inputs
    return ["input_ids", *(["token_type_ids"] if emits else []), "attention_mask"]

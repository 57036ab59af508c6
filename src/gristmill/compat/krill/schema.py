"""krill's configs, in both of its schemas, as one plain thing.

What enters: YAML with krill's sections (datasets, tokenizer, preprocess, train), or its older flat keys. What leaves:
what `preprocess` reads of it, and the names of keys that nobody here knows. Keys for training are passed over without
a word, for they are not ours; a key that we know and cannot honour is a mistake, never ignored.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gristmill.errors import RecipeError, unknown_name
from gristmill.recipe_engine import ByteSize, Count
from gristmill.recipe_mistakes import mistakes
from gristmill.units import REGISTRY, Choice, choose
from gristmill.yaml_map import line_numbers, read_map, read_text

# The older schema's keys, and where they stand in the newer one.
_FLAT = {
    "hub_tokenizer_id": ("tokenizer", "hub_id"),
    "vocab_size": ("tokenizer", "vocab_size"),
    "dataset_prepared_path": ("preprocess", "prepared_path"),
    "sequence_len": ("preprocess", "sequence_len"),
    "dataset_prepared_min_length": ("preprocess", "min_length"),
}
_MEMORY_KEYS = ("memory_efficient", "chunk_size", "save_shard_size", "dedup_cache_dir")
_FLAT |= {f"preprocess_{name}": ("preprocess", name) for name in _MEMORY_KEYS}
_SECTIONS = ("datasets", "tokenizer", "preprocess", "train", "datatrove")
# Of the flat schema: what a trainer reads. The newer schema has a section for it.
_FOR_TRAINING = frozenset(
    [
        "adam_beta1", "adam_beta2", "adam_epsilon", "attn_implementation", "bf16", "config", "epochs", "eval_steps",
        "fp16", "gradient_accumulation_steps", "gradient_checkpointing", "hub_model_id", "learning_rate",
        "logging_steps", "lr_scheduler", "lr_scheduler_type", "max_grad_norm", "max_steps", "micro_batch_size",
        "model_config_name", "model_name", "num_epochs", "num_train_epochs", "optim", "optimizer", "output_dir",
        "per_device_train_batch_size", "push_to_hub", "resume_from_checkpoint", "save_steps", "save_total_limit",
        "seed", "torch_compile", "train", "wandb_entity", "wandb_project", "warmup_ratio", "warmup_steps",
        "weight_decay",
    ]
)  # fmt: skip


class _Section(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    def unknown(self, place: str) -> Iterator[str]:
        """The keys that nobody here knows."""
        for key in self.model_extra or {}:
            yield f"{place}.{key}"


class Dataset(_Section):
    """One of the datasets: a hub id, a folder or a file."""

    path: str = Field(min_length=1)
    split: str = "train"
    text_column: str = "text"


class Tokenizer(_Section):
    """`hub_id` may be a folder or a tokenizer.json, too. `vocab_size` is for train-tokenizer."""

    hub_id: str = Field(min_length=1)
    vocab_size: Count = Field(default=32_000, ge=257)


class Preprocess(_Section):
    """Where the rows go, and how they are made."""

    prepared_path: str = Field(min_length=1)
    sequence_len: Count = Field(ge=2, le=2**31 - 1)
    min_length: Count = Field(default=150, ge=0)
    memory_efficient: bool = False
    chunk_size: Count = Field(default=10_000, ge=1)
    save_shard_size: ByteSize = Field(default=200_000_000, ge=1)
    dedup_cache_dir: str | None = None  # what runs with other prepared paths kept is dropped; a run again is the same


class Pipeline(BaseModel):
    """What datatrove is to do. `quality_filters`: {min_length: characters}, {language_filter: en, or a list}, or any
    filter of a recipe with its parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    deduplication: Literal["minhash", "exact"] = "exact"
    quality_filters: tuple[Choice, ...] = ()
    distributed: bool = False  # several processes; else one

    @field_validator("quality_filters", mode="before")
    @classmethod
    def _known_filters(cls, items: Any) -> Any:
        if not isinstance(items, (list, tuple)):
            raise ValueError(f"expected a list such as [{{min_length: 100}}, {{language_filter: en}}], found {items!r}")
        return tuple(_filter_of(item) for item in items)


def _filter_of(item: Any) -> Choice:
    """One of the section's filters as a filter of ours."""
    if isinstance(item, Choice):
        return item
    name, value = next(iter(item.items())) if isinstance(item, Mapping) and len(item) == 1 else (None, None)
    if name == "min_length":
        return choose("filter", {"length": {"min_characters": value}})
    if name == "language_filter":
        return choose("filter", {"language": {"keep": value}})
    known = ["min_length", "language_filter", *REGISTRY["filter"]]
    if name not in known:
        raise ValueError(unknown_name("quality filter", str(item if name is None else name), known))
    return choose("filter", item)


class Datatrove(BaseModel):
    """The proposed section. Off, or absent, our own engine does all of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = False
    pipeline_config: Pipeline = Pipeline()

    @field_validator("enabled")
    @classmethod
    def _installed(cls, enabled: bool) -> bool:
        if enabled and find_spec("datatrove") is None:
            raise ValueError("expected datatrove, found it is not installed; run `pip install 'gristmill[datatrove]'`")
        return enabled


class KrillConfig(BaseModel):
    """What `preprocess`, `inspect-dataset` and `train-tokenizer` read of a config."""

    model_config = ConfigDict(extra="allow", frozen=True, arbitrary_types_allowed=True)

    datasets: tuple[Dataset, ...]
    tokenizer: Tokenizer
    preprocess: Preprocess
    train: Any = None
    datatrove: Datatrove = Datatrove()

    @field_validator("datasets")
    @classmethod
    def _some(cls, datasets: tuple[Dataset, ...]) -> tuple[Dataset, ...]:
        if not datasets:
            raise ValueError("expected at least one dataset, found none")
        return datasets

    def ignored(self) -> list[str]:
        """The keys that nobody here knows, each with its place."""
        sections = [(f"datasets[{number}]", dataset) for number, dataset in enumerate(self.datasets)]
        named = [*sections, ("tokenizer", self.tokenizer), ("preprocess", self.preprocess)]
        return [*(self.model_extra or {}), *(key for place, section in named for key in section.unknown(place))]


def read(path: str | os.PathLike[str]) -> KrillConfig:
    """Read a config. Raises RecipeError with all mistakes at once."""
    text = read_text(path, "config")
    value = read_map(text, _SECTIONS, str(path))
    lines = line_numbers(text)
    try:
        return KrillConfig.model_validate(_sectioned(value))
    except ValidationError as error:
        flat_of = {".".join(place): key for key, place in _FLAT.items() if key in value}
        problems = mistakes(error, KrillConfig, {**lines, **{place: lines[key] for place, key in flat_of.items()}})
        count = "a mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        raise RecipeError(f"expected one of krill's configs, found {count}: {path}", problems) from None


def _sectioned(value: Mapping[str, Any]) -> dict[str, Any]:
    """The config in the newer schema, whichever it is written in."""
    result: dict[str, Any] = {key: value[key] for key in _SECTIONS if key in value}
    for name in ("tokenizer", "preprocess"):
        if isinstance(result.get(name), Mapping):
            result[name] = {str(key).removeprefix("preprocess_"): item for key, item in result[name].items()}
    is_flat = not any(isinstance(value.get(name), Mapping) for name in ("tokenizer", "preprocess"))
    for key, item in value.items():
        if key in _FLAT:
            section, name = _FLAT[key]
            part = result.setdefault(section, {})
            if isinstance(part, dict):
                part.setdefault(name, item)
        elif key not in _SECTIONS and not (is_flat and key in _FOR_TRAINING):
            result[key] = item
    return result

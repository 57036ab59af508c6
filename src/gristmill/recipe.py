"""The recipe's schema: a YAML file, or the same as Python objects, checked whole before anything runs.

Strict: every unknown key is an error that lists the known ones, and all mistakes are reported at once, each with
its place (`sources[1].weight`, line 7) and what was expected. A recipe of four keys (sources, tokenizer, pack,
output) is complete.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    field_validator,
    model_validator,
)

from gristmill import units
from gristmill.errors import RecipeError, SourceError, unknown_name
from gristmill.quantities import parse_bytes, parse_count
from gristmill.yaml_map import line_numbers, read_map, read_text

Count = Annotated[int, BeforeValidator(parse_count)]  # 10B, 1.5M, 4096
ByteSize = Annotated[int, BeforeValidator(parse_bytes)]  # 4GB, 32MB, 1048576


class Model(BaseModel):
    """Strict and frozen: no unknown keys, no silent conversions of meaning."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)


class Source(Model):
    """Where documents come from: a path (file, glob, folder, fsspec address) or a Hugging Face dataset."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    path: str | None = None
    dataset: str | None = None
    config: str | None = None
    split: str = "train"
    text_column: str = "text"
    id_column: str | None = None
    metadata_columns: tuple[str, ...] = ()
    unit: Literal["file", "paragraph", "line"] = "file"  # of plain text files: what one document is
    weight: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    limit: Count | None = Field(default=None, ge=1)
    max_unreadable_ratio: float = Field(default=0.01, ge=0, le=1)

    @model_validator(mode="after")
    def _one_origin(self) -> Source:
        if (self.path is None) == (self.dataset is None):
            raise ValueError("expected either `path` or `dataset`, found " + ("both" if self.path else "neither"))
        return self


class TokenizerTraining(Model):
    """How to train a byte-level BPE tokenizer on the kept documents."""

    vocab_size: Count = Field(default=32_000, ge=257)
    sample: ByteSize = Field(default=200_000_000, ge=1_000)


class Tokenizer(Model):
    """Which tokenizer: `path` (tokenizer.json or its folder), `hub` id, or `train` one on the kept text."""

    path: str | None = None
    hub: str | None = None
    train: TokenizerTraining | None = None
    append_eos: bool | Literal["always"] = True  # always: also where the tokenizer's own rules close with an EOS
    special_tokens: bool = False
    eos_token: str | None = None
    min_tokens: Count = Field(default=0, ge=0)  # of a document, with all that is added to it; shorter ones are dropped

    @model_validator(mode="after")
    def _one_origin(self) -> Tokenizer:
        given = [name for name in ("path", "hub", "train") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"expected exactly one of `path`, `hub`, `train`, found {given or 'none'}")
        return self


class Mixture(Model):
    """How much of each source: a budget in tokens, or a number of epochs; see mixture/budget.py."""

    tokens: Count | None = Field(default=None, ge=1)
    epochs: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    max_epochs: float = Field(default=4.0, gt=0, allow_inf_nan=False)
    when_exhausted: Literal["redistribute", "repeat", "stop"] = "redistribute"
    shuffle: bool = True
    order: Literal["interleaved", "concatenated"] = "interleaved"  # concatenated: one source behind the other
    seed: int = Field(default=0, ge=0, lt=2**63)


class Pack(Model):
    """How documents become rows of exactly `sequence_length` tokens; see packing/."""

    strategy: Literal["best_fit", "wrapped", "padded"] = "best_fit"
    sequence_length: Count = Field(ge=2, le=2**31 - 1)
    window: Count = Field(default=1 << 24, ge=1)  # tokens planned together: one task


class Output(Model):
    """Where the run's folder is, and what is kept in it."""

    path: str = Field(min_length=1)
    keep_dropped: bool = True  # the dropped texts too: then a changed bound never reads raw text again
    chunk: ByteSize = Field(default=32 << 20, ge=1 << 10)  # raw bytes that make one task


class Engine(Model):
    """What the run may use. None of it changes a byte of the output."""

    workers: Annotated[int, Field(ge=0)] | Literal["auto"] = "auto"  # 0: in this process, for debugging
    memory: ByteSize = Field(default=4 << 30, ge=256 << 20)


def _check(kind: str) -> BeforeValidator:
    return BeforeValidator(lambda item: units.choose(kind, item))


_as_written = PlainSerializer(lambda choice: {choice.name: dict(choice.parameters)})
Cleaner = Annotated[units.Choice, _check("cleaner"), _as_written]
Filter = Annotated[units.Choice, _check("filter"), _as_written]
Deduplicator = Annotated[units.Choice, _check("deduplicator"), _as_written]


class Recipe(Model):
    """One recipe: raw text in, training batches out."""

    sources: tuple[Source, ...]
    clean: tuple[Cleaner, ...] = (units.Choice("unicode"), units.Choice("strip"))
    filters: tuple[Filter, ...] = ()
    dedup: tuple[Deduplicator, ...] = ()
    tokenizer: Tokenizer
    mixture: Mixture = Mixture()
    pack: Pack
    output: Output
    engine: Engine = Engine()

    @field_validator("sources")
    @classmethod
    def _names_differ(cls, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        if not sources:
            raise ValueError("expected at least one source, found none")
        names = [source.name for source in sources]
        for name in names:
            if (times := names.count(name)) > 1:
                raise ValueError(f"expected a name of its own for each source, found `{name}` {times} times")
        return sources

    @field_validator("sources")
    @classmethod
    def _weights_make_sense(cls, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        weights = [source.weight for source in sources]
        if any(weight is None for weight in weights) and any(weight is not None for weight in weights):
            without = ", ".join(f"`{source.name}`" for source in sources if source.weight is None)
            raise ValueError(f"expected a weight for every source or for none; without one: {without}")
        if all(weight == 0 for weight in weights):
            raise ValueError("expected at least one weight above 0")
        return sources

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str], **changes: Any) -> Recipe:
        """Read a recipe file. Relative paths in it are relative to the current folder, as in a shell."""
        return cls.from_text(read_text(path, "recipe"), str(path), **changes)

    @classmethod
    def from_text(cls, text: str, name: str = "recipe", **changes: Any) -> Recipe:
        """Read a recipe from YAML text; `changes` replace whole top-level keys or, as dicts, parts of them."""
        value = read_map(text, cls.model_fields, name)
        for key, change in changes.items():
            old = value.get(key)
            value[key] = {**old, **change} if isinstance(old, dict) and isinstance(change, dict) else change
        return cls.from_dict(value, name, lines=line_numbers(text))

    @classmethod
    def from_dict(
        cls, value: Mapping[str, Any], name: str = "recipe", lines: Mapping[str, int] | None = None
    ) -> Recipe:
        """Check a map as YAML gives it. Raises RecipeError with every mistake at once."""
        problems: list[str] = []
        recipe: Recipe | None = None
        try:
            recipe = cls.model_validate(dict(value))
        except ValidationError as error:
            problems += mistakes(error, cls, lines or {})
        problems += [_placed(place, text, lines or {}) for place, text in _missing_files(value)]
        if problems or recipe is None:
            count = "a mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
            raise RecipeError(f"expected a recipe that can be carried out, found {count}: {name}", problems)
        return recipe

    def to_dict(self) -> dict[str, Any]:
        """The recipe as plain data, defaults filled in: what the output folder keeps."""
        return self.model_dump(mode="json")


def _missing_files(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Places whose local files are not there. Works on the raw map, so it reports beside schema mistakes."""
    from gristmill import sources as readers

    sources = value.get("sources")
    for number, source in enumerate(sources if isinstance(sources, (list, tuple)) else ()):
        path = source.get("path") if isinstance(source, Mapping) else getattr(source, "path", None)
        if isinstance(path, str) and "://" not in path:
            try:
                readers.find(path)
            except SourceError as error:
                yield f"sources[{number}].path", str(error)
    tokenizer = value.get("tokenizer")
    path = tokenizer.get("path") if isinstance(tokenizer, Mapping) else getattr(tokenizer, "path", None)
    if isinstance(path, str) and not Path(path).exists():
        yield "tokenizer.path", f"expected a tokenizer.json or a folder with one, found nothing: {path}"


def mistakes(error: ValidationError, root: type[BaseModel], lines: Mapping[str, int]) -> list[str]:
    """Every mistake that pydantic found, as a sentence with its place."""
    return [_sentence(detail, root, lines) for detail in error.errors()]


def _sentence(detail: Any, root: type[BaseModel], lines: Mapping[str, int]) -> str:
    """One pydantic error as: place (line N): expected ..., found ..."""
    steps = [step for step in detail["loc"] if not (isinstance(step, str) and step[0] in "cflt" and "[" in step)]
    place = _place(steps)
    if detail["type"] == "extra_forbidden":
        text = unknown_name("key", str(steps[-1]), _known_keys(root, steps[:-1]))
    elif detail["type"] == "missing":
        text = "expected a value, found none"
    else:
        message = detail["msg"].removeprefix("Value error, ")
        message = message[0].lower() + message[1:]
        if message.startswith(("input should be", "string should", "tuple should")):
            wanted = message.split(" ", 1)[1].replace("should be ", "").replace("should ", "to ")
            message = f"expected {wanted.replace('a valid tuple', 'a list')}"
        found = detail["input"]
        text = message if "found" in message or "unknown" in message else f"{message}, found {found!r}"
    return _placed(place, text, lines)


def _place(steps: list[Any]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".") or "recipe"


def _placed(place: str, text: str, lines: Mapping[str, int]) -> str:
    above = place
    while above and above not in lines:
        above = above[: max(above.rfind("."), above.rfind("["), 0)]
    return f"{place} (line {lines[above]}): {text}" if above else f"{place}: {text}"


def _known_keys(root: type[BaseModel], steps: list[Any]) -> list[str]:
    """The fields of the model that lies at these steps below `root`."""
    model = root
    for step in steps:
        if isinstance(step, str):
            models = _models_in(model.model_fields[step].annotation)
            model = models[0] if models else model
    return list(model.model_fields)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]

"""The recipe's schema: a YAML file, or the same as Python objects, checked whole before anything runs.

Strict: every unknown key is an error that lists the known ones, and all mistakes are reported at once, each with
its place (`sources[1].weight`, line 7) and what was expected. A recipe of four keys (sources, tokenizer, pack,
output) is complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
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

from gristmill import foreign_code, recipe_mistakes, units
from gristmill.errors import RecipeError, unknown_name
from gristmill.recipe_engine import ByteSize, Count, Engine
from gristmill.sources.piece import MOST_DOCUMENT_BYTES
from gristmill.yaml_map import line_numbers, read_map, read_text

Change = Callable[[dict[str, Any]], dict[str, Any]]


class Model(BaseModel):
    """Strict and frozen: no unknown keys, no silent conversions of meaning."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)


def _check(kind: str) -> BeforeValidator:
    return BeforeValidator(lambda item: units.choose(kind, item))


_as_written = PlainSerializer(lambda choice: {choice.name: dict(choice.parameters)})
Cleaner = Annotated[units.Choice, _check("cleaner"), _as_written]
Filter = Annotated[units.Choice, _check("filter"), _as_written]
Deduplicator = Annotated[units.Choice, _check("deduplicator"), _as_written]


class Source(Model):
    """Where documents come from: a path (file, glob, folder, fsspec address) or a Hugging Face dataset."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    path: str | None = None
    dataset: str | None = None
    config: str | None = None
    local: str | None = None  # a folder or file with the rows of the dataset, in the place of the hub
    split: str = "train"
    text_column: str = "text"
    id_column: str | None = None
    metadata_columns: tuple[str, ...] = ()
    unit: Literal["file", "paragraph", "line"] = "file"  # of plain text files: what one document is
    filters: tuple[Filter, ...] | None = None  # instead of the recipe's: code is not judged as English prose
    weight: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    limit: Count | None = Field(default=None, ge=1)
    max_document: ByteSize = Field(default=MOST_DOCUMENT_BYTES, ge=1 << 10)  # a longer text is `skipped.too_long`
    max_unreadable_ratio: float = Field(default=0.01, ge=0, le=1)

    @model_validator(mode="after")
    def _one_origin(self) -> Source:
        if (self.path is None) == (self.dataset is None):
            raise ValueError("expected either `path` or `dataset`, found " + ("both" if self.path else "neither"))
        if self.local is not None and self.dataset is None:
            raise ValueError("expected `dataset` beside `local`, which stands in its place, found none")
        return self

    @property
    def files(self) -> str | None:
        """The path, glob or address of its files; None where the hub has them."""
        return self.path or self.local


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


class Stage(Model):
    """One stage of a mixture: its own weights, and a budget in tokens, or in optimizer steps of `rows_per_step`."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    tokens: Count | None = Field(default=None, ge=1)
    steps: Count | None = Field(default=None, ge=1)
    weights: Mapping[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]  # by source; without one, none of it
    reuse_documents: bool = False  # whether what earlier stages drew may be drawn again

    @model_validator(mode="after")
    def _one_budget(self) -> Stage:
        if (self.tokens is None) == (self.steps is None):
            raise ValueError("expected either `tokens` or `steps`, found " + ("both" if self.tokens else "neither"))
        if not any(self.weights.values()):
            raise ValueError("expected at least one weight above 0")
        return self


class Mixture(Model):
    """How much of each source: a budget in tokens, or a number of epochs; see mixture/budget.py. Or stages, one
    after the other, each with weights of its own."""

    tokens: Count | None = Field(default=None, ge=1)
    epochs: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    max_epochs: float = Field(default=4.0, gt=0, allow_inf_nan=False)
    when_exhausted: Literal["redistribute", "repeat", "stop"] = "redistribute"
    shuffle: bool = True
    order: Literal["interleaved", "concatenated"] = "interleaved"  # concatenated: one source behind the other
    seed: int = Field(default=0, ge=0, lt=2**63)
    stages: tuple[Stage, ...] = ()
    rows_per_step: Count | None = Field(default=None, ge=1)  # what a training step reads: turns steps into tokens

    @model_validator(mode="after")
    def _stages_fit(self) -> Mixture:
        names = [stage.name for stage in self.stages]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"expected a name of its own for each stage, found `{name}` {names.count(name)} times")
        if self.stages and self.tokens is not None:
            raise ValueError("expected either `tokens` or `stages`, found both")
        if self.rows_per_step is None and (counted := [stage.name for stage in self.stages if stage.steps]):
            raise ValueError(f"expected `rows_per_step`, which turns steps into tokens, for stage {counted[0]}")
        return self


class Pack(Model):
    """How documents become rows of exactly `sequence_length` tokens; see packing/."""

    strategy: Literal["best_fit", "wrapped", "padded"] = "best_fit"
    sequence_length: Count = Field(ge=2, le=2**31 - 1)
    window: Count = Field(default=1 << 24, ge=1)  # tokens planned together: one task


class Output(Model):
    """Where the run's folder is, and what is kept in it."""

    path: str = Field(min_length=1)
    texts: bool = False  # the surviving texts, too, as ORG_NAME/CONFIG/NUMBER.jsonl.gz, for other tools
    keep_dropped: bool = True  # the dropped texts too: then a changed bound never reads raw text again
    chunk: ByteSize = Field(default=32 << 20, ge=1 << 10)  # raw bytes that make one task
    tasks: Count | None = Field(default=None, ge=1)  # instead of `chunk`: about so many tasks for each source


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

    @model_validator(mode="after")
    def _stages_name_sources(self) -> Recipe:
        names = [source.name for source in self.sources]
        for number, stage in enumerate(self.mixture.stages):
            for name in stage.weights:
                if name not in names:
                    raise ValueError(f"mixture.stages[{number}].weights: {unknown_name('source', name, names)}")
        if self.mixture.stages and any(source.weight is not None for source in self.sources):
            raise ValueError("expected weights in the sources or in `mixture.stages`, found both")
        return self

    def filters_of(self, source: Source) -> tuple[units.Choice, ...]:
        """Who judges this source."""
        filters = self.filters if source.filters is None else source.filters
        return tuple(choice.judged_by(self.engine.blocks) for choice in filters)

    def stage_tokens(self, stage: Stage) -> int:
        """A stage's budget."""
        return stage.tokens or (stage.steps or 0) * (self.mixture.rows_per_step or 0) * self.pack.sequence_length

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str], *changes: Change, allow_code: bool = False) -> Recipe:
        """Read a recipe file. Relative paths in it are relative to the current folder, as in a shell."""
        return cls.from_text(read_text(path, "recipe"), str(path), *changes, allow_code=allow_code)

    @classmethod
    def from_text(cls, text: str, name: str = "recipe", *changes: Change, allow_code: bool = False) -> Recipe:
        """Read a recipe from YAML text, changed (see recipe_changes.py) before it is checked. It may be a stranger's:
        a unit of his own (`module:Class`) is a mistake in it, unless `allow_code` says that it may be imported."""
        value = read_map(text, cls.model_fields, name)
        for change in changes:
            value = change(value)
        with foreign_code.allowed(allow_code):
            return cls.from_dict(value, name, lines=line_numbers(text))

    @classmethod
    def from_dict(
        cls, value: Mapping[str, Any], name: str = "recipe", lines: Mapping[str, int] | None = None
    ) -> Recipe:
        """Check a map as YAML gives it: the program's own, so what it names may be imported. Raises RecipeError with
        every mistake at once."""
        problems: list[str] = []
        recipe: Recipe | None = None
        try:
            recipe = cls.model_validate(dict(value))
        except ValidationError as error:
            problems += recipe_mistakes.mistakes(error, cls, lines or {})
        problems += [
            recipe_mistakes.placed(place, text, lines or {}) for place, text in recipe_mistakes.missing_files(value)
        ]
        if problems or recipe is None:
            count = "a mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
            raise RecipeError(f"expected a recipe that can be carried out, found {count}: {name}", problems)
        return recipe

    def to_dict(self) -> dict[str, Any]:
        """The recipe as plain data, defaults filled in: what the output folder keeps."""
        return self.model_dump(mode="json")

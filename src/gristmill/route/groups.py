"""The groups of steps that a recipe's route yields, by name and in order, known before anything has run.

A group is what runs side by side; the next one waits for all of it. Those that may have many tasks become jobs of a
cluster; those that are one task are carried out by whoever finishes the job before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gristmill.dedup import sequence
from gristmill.engine.step import Step
from gristmill.recipe import Recipe
from gristmill.route import mix
from gristmill.route.dedup_index import compares
from gristmill.units import cuts

_BY_SOURCE = ("sift", "judge", "tokenize", "pack")  # stages whose steps are a group, whatever follows in their names


class Group(NamedTuple):
    """A group's name, and whether it may have many tasks."""

    name: str
    wide: bool


def name_of(steps: Sequence[Step]) -> str:
    """The name of a group, by its steps."""
    first, *rest = steps[0].name.split("/")
    if steps[0].function == "gristmill.route.texts:run":
        return "texts"
    if first in _BY_SOURCE:
        return first
    if first == "dedup" and len(rest) == 2:  # a step a source
        return f"dedup/{rest[0]}.chunks"
    return steps[0].name


def groups_of(recipe: Recipe) -> list[Group]:
    """All groups, in order."""
    return list(_groups(recipe))


def _groups(recipe: Recipe) -> Iterator[Group]:
    yield Group("sift", wide=True)
    yield Group("judge", wide=True)
    yield from _dedup_groups(recipe)
    if recipe.output.texts:
        yield Group("texts", wide=True)
    if recipe.tokenizer.train is not None:
        yield Group("tokenizer/training", wide=False)
    yield Group("tokenizer", wide=False)
    yield Group("tokenize", wide=True)
    for asked in mix.stages_of(recipe):
        yield Group(mix.folder_of("mix", asked), wide=False)
    yield Group("pack", wide=True)


def _dedup_groups(recipe: Recipe) -> Iterator[Group]:
    units = sequence.named([choice.make("deduplicator") for choice in recipe.dedup])
    has_cut = False
    for choice, (name, unit) in zip(recipe.dedup, units, strict=True):
        step = f"dedup/{name}"
        if cuts(choice):
            for of_round in unit.ROUNDS:
                yield Group(f"{step}.{of_round}.chunks", wide=True)
                yield Group(f"{step}.{of_round}", wide=True)
            yield Group(f"{step}.chunks", wide=True)
            has_cut = True
            continue
        if has_cut:
            yield Group(f"{step}.sketches.chunks", wide=True)
        if hasattr(unit, "bands"):
            yield Group(f"{step}.sorted", wide=True)
            yield Group(f"{step}.pairs", wide=True)
            if compares(unit):
                yield Group(f"{step}.candidates", wide=False)
                yield Group(f"{step}.sets", wide=True)
        yield Group(step, wide=False)
        if getattr(unit, "index", None) is not None and not hasattr(unit, "filter_bits"):
            yield Group(f"{step}.index", wide=True)
            if compares(unit):
                yield Group(f"{step}.index_sets", wide=True)

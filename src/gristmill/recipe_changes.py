"""What the command line changes in a recipe before it is checked: maps as YAML gives them, in and out.

Each function takes the recipe and returns a changed copy. What is not of the expected shape is left for the schema to
complain about, so that all mistakes are reported at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gristmill.errors import RecipeError, unknown_name
from gristmill.quantities import parse_count

Map = dict[str, Any]


def with_parts(recipe: Map, changes: Mapping[str, Any]) -> Map:
    """Other values for top-level keys; a map replaces only the parts it names."""
    changed = dict(recipe)
    for key, change in changes.items():
        old = recipe.get(key)
        changed[key] = {**old, **change} if isinstance(old, dict) and isinstance(change, dict) else change
    return changed


def replaced(recipe: Map, key: str, value: Any) -> Map:
    """Another value for one top-level key."""
    return {**recipe, key: value}


def only_sources(recipe: Map, names: Sequence[str]) -> Map:
    """Only the sources of these names, in the recipe's order; the weights of the others go, in stages too."""
    known = [str(source.get("name")) for source in _sources(recipe)]
    for name in names:
        if name not in known:
            raise RecipeError(unknown_name("source", name, known))
    return _keep(recipe, set(names))


def first_sources(recipe: Map, count: int) -> Map:
    """Only the first sources."""
    return _keep(recipe, {source.get("name") for source in _sources(recipe)[:count]})


def limited(recipe: Map, docs: int) -> Map:
    """At most so many documents of each source."""
    return _each_source(recipe, lambda source: {**source, "limit": docs})


def scaled(recipe: Map, factor: float) -> Map:
    """Every budget in tokens, times a factor."""

    def less(budgeted: Map) -> Map:
        if budgeted.get("tokens") is None:
            return budgeted
        return {**budgeted, "tokens": max(1, round(parse_count(budgeted["tokens"]) * factor))}

    mixture = recipe.get("mixture")
    if not isinstance(mixture, dict):
        raise RecipeError("expected a recipe with a budget of tokens in `mixture` to scale, found none")
    stages = [less(stage) if isinstance(stage, dict) else stage for stage in mixture.get("stages", ())]
    return {**recipe, "mixture": {**less(mixture), **({"stages": stages} if stages else {})}}


def on_local_root(recipe: Map, root: Path) -> Map:
    """Folders below `root` in the place of hub ids: ROOT/ORG/NAME/CONFIG or ROOT/ORG_NAME/CONFIG, without a config
    its parent. Raises RecipeError that names every dataset that is not there."""
    missing: list[str] = []

    def moved(source: Map) -> Map:
        dataset, config = source.get("dataset"), source.get("config")
        if not isinstance(dataset, str):
            return source
        places = [root / name / (config or "") for name in (dataset, dataset.replace("/", "_"))]
        found = next((place for place in places if place.exists()), None)
        if found is None:
            missing.append(f"{source.get('name')}: expected {places[0]} or {places[1]}, found neither")
            return source
        return {**source, "local": str(found)}

    changed = _each_source(recipe, moved)
    if missing:
        raise RecipeError(f"expected a folder for each dataset below {root}, found {len(missing)} missing", missing)
    return changed


def _sources(recipe: Map) -> list[Map]:
    sources = recipe.get("sources")
    return [source for source in sources if isinstance(source, dict)] if isinstance(sources, (list, tuple)) else []


def _each_source(recipe: Map, change: Any) -> Map:
    return {**recipe, "sources": [change(source) for source in _sources(recipe)]}


def _keep(recipe: Map, names: set[Any]) -> Map:
    sources = [source for source in _sources(recipe) if source.get("name") in names]
    changed = {**recipe, "sources": sources}
    mixture = recipe.get("mixture")
    if isinstance(mixture, dict) and mixture.get("stages"):
        stages = [
            {**stage, "weights": {name: weight for name, weight in stage["weights"].items() if name in names}}
            for stage in mixture["stages"]
        ]
        used = [stage for stage in stages if any(stage["weights"].values())]
        changed["mixture"] = {**mixture, "stages": used}
    return changed

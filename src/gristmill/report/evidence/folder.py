"""An output folder, opened: its recipe, its ledger, and the chunks of its sources."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from gristmill import foreign_code
from gristmill.engine.ledger import Ledger
from gristmill.errors import RecipeError
from gristmill.filters.sequence import FilterSequence
from gristmill.finished import read_recipe, require_output
from gristmill.units import choose, is_foreign


class Chunk(NamedTuple):
    """One chunk of a source, by its number."""

    source: str
    number: int

    @property
    def stem(self) -> str:
        """What its files are called."""
        return f"{self.number:05}"


@dataclass(frozen=True)
class RunFolder:
    """What every part of the evidence is made from."""

    output: Path
    recipe_text: str
    ledger: Ledger

    @staticmethod
    def open(output: Path) -> RunFolder:
        """Raises ResumeError where the folder is no finished run's."""
        ledger = Ledger.read(require_output(output, "ledger.json"))
        recipe_text = (require_output(output, "recipe.yaml") / "recipe.yaml").read_text("utf-8")
        return RunFolder(output, recipe_text, ledger)

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.output.resolve().name

    @cached_property
    def filters(self) -> dict[str, FilterSequence]:
        """By source, without those that Gristmill does not ship: a report runs no code that a folder names."""
        recipe = read_recipe(self.output)
        made: dict[str, FilterSequence] = {}
        found = {}
        for source in recipe["sources"]:
            items = recipe.get("filters", ()) if source.get("filters") is None else source["filters"]
            key = json.dumps(items, sort_keys=True)
            if key not in made:
                made[key] = _sequence(items, self.output / "recipe.yaml")
            found[source["name"]] = made[key]
        return found

    @cached_property
    def sources(self) -> list[str]:
        """Names, in the order of the ledger."""
        return list(dict.fromkeys(entry.source for entry in self.ledger.entries))

    @cached_property
    def chunks(self) -> list[Chunk]:
        """Those that were judged, in order."""
        return [
            Chunk(source, int(path.stem))
            for source in self.sources
            for path in sorted((self.output / "judge" / source).glob("*.parquet"))
        ]


def _sequence(items: Sequence[Any], path: Path) -> FilterSequence:
    try:
        with foreign_code.allowed(False):
            choices = [choose("filter", item) for item in items if not is_foreign(item)]
            return FilterSequence([choice.make("filter") for choice in choices])
    except ValueError as error:
        raise RecipeError(f"expected the filters that the run had, found another: {path}: {error}") from error

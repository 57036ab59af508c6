"""An output folder, opened: its recipe, its ledger, and the chunks of its sources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from gristmill.engine.ledger import Ledger
from gristmill.finished import require_output
from gristmill.recipe import Recipe


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
    def filters(self) -> dict[str, tuple[Choice, ...]]:
        """As the run carried it out."""
        return Recipe.from_text(self.recipe_text, str(self.output / "recipe.yaml"))

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

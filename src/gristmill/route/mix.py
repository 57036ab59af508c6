"""mix: token counts → a draw plan: which document, in which order, how often. Requested and achieved shares.

One step, or one for each stage of the mixture: a stage goes on in every source where the one before it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gristmill.engine.ledger import Entry
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats.draw_plan import DrawPlan
from gristmill.formats.files import scratch_folder
from gristmill.formats.token_shard import TokenShard
from gristmill.mixture.begun import Begun
from gristmill.route.shards import SourceShards

if TYPE_CHECKING:  # a worker would spend 0.1 s on loading the schema
    from gristmill.recipe import Recipe

VERSION = 1
PLAN_FILE = "draws.arrow"


@dataclass(frozen=True)
class Asked:
    """What is asked of one stage. A mixture without stages is one of no name."""

    name: str
    weights: tuple[float | None, ...]
    tokens: int | None
    reuse_documents: bool


def stages_of(recipe: Recipe) -> Iterator[Asked]:
    """What the recipe asks, stage by stage."""
    if not recipe.mixture.stages:
        yield Asked("", tuple(source.weight for source in recipe.sources), recipe.mixture.tokens, False)
    for stage in recipe.mixture.stages:
        weights = tuple(stage.weights.get(source.name, 0.0) for source in recipe.sources)
        yield Asked(stage.name, weights, recipe.stage_tokens(stage), stage.reuse_documents)


def folder_of(stage: str, asked: Asked) -> str:
    """Where `mix` or `pack` of a stage lies below the output."""
    return f"{stage}/{asked.name}" if asked.name else stage


@dataclass(frozen=True)
class MixWork:
    """All shards of all sources, and what is asked of them."""

    sources: tuple[SourceShards, ...]
    weights: tuple[float | None, ...]
    tokens: int | None
    epochs: float
    max_epochs: float
    when_exhausted: Literal["redistribute", "repeat", "stop"]
    seed: int | None  # None: in the order of the input
    window_tokens: int
    begun: Begun | None


def step(
    recipe: Recipe, asked: Asked, sources: Sequence[SourceShards], before: Sequence[Record], reads: tuple[Step, ...]
) -> Step:
    """The step that draws for one stage; `before` are the records of the stages before it."""
    common = recipe.mixture
    begun = _begun(before, asked.reuse_documents) if before else None
    literals = {
        "mixture": {
            "tokens": asked.tokens,
            "epochs": common.epochs,
            "max_epochs": common.max_epochs,
            "when_exhausted": common.when_exhausted,
            "shuffle": common.shuffle,
            "seed": common.seed,
        },
        "weights": {source.name: weight for source, weight in zip(recipe.sources, asked.weights, strict=True)},
        "window": recipe.pack.window,
        "begun": asdict(begun) if begun else None,
    }
    task = Task(
        name="draws",
        inputs={"shards": {source.name: list(source.checksums) for source in sources}},
        work=MixWork(
            tuple(sources),
            asked.weights,
            asked.tokens,
            common.epochs,
            common.max_epochs,
            common.when_exhausted,
            common.seed if common.shuffle else None,
            recipe.pack.window,
            begun,
        ),
    )
    return Step(folder_of("mix", asked), "gristmill.route.mix:run", VERSION, literals, [task], reads)


def _begun(before: Sequence[Record], reusable: bool) -> Begun:
    books = [record.counts["books"] for record in before]

    def drawn(unit: str) -> tuple[int, ...]:
        of_stages = [[source[unit] for source in of_stage["sources"]] for of_stage in books]
        return tuple(sum(counts) for counts in zip(*of_stages, strict=True))

    return Begun(tuple(books[-1]["positions"]), drawn("drawn_tokens"), drawn("drawn_docs"), reusable)


def run(work: MixWork, folder: Path, stem: str) -> Outcome:
    """The task: write the draw plan."""
    from gristmill.mixture.lengths import collect_lengths
    from gristmill.mixture.mix import mix

    with scratch_folder(folder) as scratch:
        lengths = collect_lengths(
            [(TokenShard.open(path).lengths for path in source.paths) for source in work.sources], scratch
        )
        books = mix(
            folder / PLAN_FILE,
            [source.name for source in work.sources],
            work.weights,
            lengths,
            work.window_tokens,
            work.seed,
            work.tokens,
            work.epochs,
            work.max_epochs,
            work.when_exhausted,
            work.begun,
        )
    with DrawPlan(folder / PLAN_FILE) as plan:
        window_tokens = [window.tokens for window in plan.windows]
    stage = "" if folder.name == "mix" else f" {folder.name}"
    notices = [f"mix{stage}: {note}" for note in books.notes]
    return Outcome({"books": asdict(books), "window_tokens": window_tokens}, [PLAN_FILE], notices)


def entries(stages: Sequence[Asked], mixed: Sequence[Record]) -> Iterator[Entry]:
    """The ledger's entry of each source: available = drawn, by all stages, + unused - repeated."""
    for books in zip(*(record.counts["books"]["sources"] for record in mixed), strict=True):
        available, drawn = books[0]["available_tokens"], sum(book["drawn_tokens"] for book in books)
        gone = {"unused": max(0, available - drawn), "repeated": -max(0, drawn - available)}
        details = {
            "empty_documents": books[0]["empty_docs"],
            "stages": [_stage_details(asked.name, book) for asked, book in zip(stages, books, strict=True)],
        }
        yield Entry("mix", books[0]["name"], "tokens", available, drawn, gone, details)


def _stage_details(name: str, book: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "stage": name,
        "requested_share": book["requested_share"],
        "achieved_share": book["achieved_share"],
        "tokens": book["drawn_tokens"],
        "documents": book["drawn_docs"],
        "epochs": book["epochs"],
        "unused_tokens": book["unused_tokens"],
    }

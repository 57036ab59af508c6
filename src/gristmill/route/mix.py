"""mix: token counts → a draw plan: which document, in which order, how often. Requested and achieved shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gristmill.engine.ledger import Entry
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats.draw_plan import DrawPlan
from gristmill.formats.files import scratch_folder
from gristmill.formats.token_shard import TokenShard
from gristmill.route.shards import SourceShards

if TYPE_CHECKING:  # a worker would spend 0.1 s on loading the schema
    from gristmill.recipe import Recipe

VERSION = 1
PLAN_FILE = "draws.arrow"


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
    concatenated: bool
    window_tokens: int


def step(recipe: Recipe, sources: Sequence[SourceShards], reads: tuple[Step, ...]) -> Step:
    """The step that draws."""
    asked = recipe.mixture
    weights = tuple(source.weight for source in recipe.sources)
    literals = {
        "mixture": asked.model_dump(mode="json"),
        "weights": {source.name: source.weight for source in recipe.sources},
        "window": recipe.pack.window,
    }
    task = Task(
        name="draws",
        inputs={"shards": {source.name: list(source.checksums) for source in sources}},
        work=MixWork(
            tuple(sources),
            weights,
            asked.tokens,
            asked.epochs,
            asked.max_epochs,
            asked.when_exhausted,
            asked.seed if asked.shuffle else None,
            asked.order == "concatenated",
            recipe.pack.window,
        ),
    )
    return Step("mix", "gristmill.route.mix:run", VERSION, literals, [task], reads)


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
            work.concatenated,
        )
    with DrawPlan(folder / PLAN_FILE) as plan:
        window_tokens = [window.tokens for window in plan.windows]
    notices = [f"mix: {note}" for note in books.notes]
    return Outcome({"books": asdict(books), "window_tokens": window_tokens}, [PLAN_FILE], notices)


def entry(book: Mapping[str, Any]) -> Entry:
    """The ledger's entry of one source: available = drawn + unused - repeated."""
    available, drawn = book["available_tokens"], book["drawn_tokens"]
    gone = {"unused": book["unused_tokens"], "repeated": -max(0, drawn - available)}
    details = {
        "requested_share": book["requested_share"],
        "achieved_share": book["achieved_share"],
        "epochs": book["epochs"],
        "documents": book["drawn_docs"],
        "empty_documents": book["empty_docs"],
    }
    return Entry("mix", book["name"], "tokens", available, drawn, gone, details)

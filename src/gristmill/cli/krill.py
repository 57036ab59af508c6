"""krill's configs: preprocess, inspect-dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gristmill.cli.app import app


@app.command("preprocess")
def preprocess_command(
    config: Annotated[Path, typer.Argument(help="One of krill's configs.")],
    workers: Annotated[int | None, typer.Option(help="How many processes; as many as fit by default.")] = None,
    memory: Annotated[str | None, typer.Option(help="What the run may use, e.g. 2GB.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Prepare the dataset that a krill config describes, for krill's trainer; run it again to resume."""
    from rich.console import Console

    from gristmill.compat.krill import prepared, schema, translate
    from gristmill.drive import run
    from gristmill.quantities import parse_bytes
    from gristmill.report.memory import MemoryWatch, WatchedProgress, print_memory
    from gristmill.report.prepared import print_dataset, print_dropped

    console = Console(quiet=quiet)
    asked = schema.read(config)
    if ignored := asked.ignored():
        console.print(f"Keys that nobody here knows, ignored: {', '.join(ignored)}", markup=False, soft_wrap=True)
    console.print("Memory is bounded in every mode; `preprocess_memory_efficient` changes nothing.", soft_wrap=True)
    if asked.datatrove.enabled:
        console.print("Filters are datatrove's own, one document at a time; the rest is our engine.", soft_wrap=True)
    recipe = translate.recipe_of(asked, parse_bytes(memory) if memory else None, workers)
    folder = Path(asked.preprocess.prepared_path)
    prepared.require_room(folder)
    with MemoryWatch() as watch:
        result = run(recipe, WatchedProgress(console, watch))
        watch.begin("save")
        shard_bytes, columns = asked.preprocess.save_shard_size, translate.columns_of(asked)
        prepared.write(result.path / "pack", result.ledger, folder, shard_bytes, columns)
    print_dropped(result.ledger, console)
    print_dataset(folder, prepared.tokenizer_of(folder), console, samples=1)
    print_memory(watch.stages, console)
    console.print(f"Dataset: {folder}; its books: `gristmill report {result.path}`", highlight=False, soft_wrap=True)


@app.command("inspect-dataset")
def inspect_dataset_command(
    config: Annotated[Path, typer.Argument(help="One of krill's configs.")],
    rows: Annotated[int, typer.Option(help="How many rows to show.", min=0)] = 3,
) -> None:
    """Show the dataset that `preprocess` prepared for a krill config: rows, tokens, a check, samples."""
    from rich.console import Console

    from gristmill.compat.krill import prepared, schema
    from gristmill.report.prepared import print_dataset

    folder = Path(schema.read(config).preprocess.prepared_path)
    print_dataset(folder, prepared.tokenizer_of(folder), Console(), rows)

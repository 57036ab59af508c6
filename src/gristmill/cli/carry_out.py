"""Recipes: init, plan, run, verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gristmill.cli.app import AllowCode, RecipePath, app
from gristmill.cli.asked_recipe import changes_of, load_recipe


@app.command("init")
def init_command(
    name: Annotated[str, typer.Argument(help="Which starter: simple, demo.")] = "simple",
    file: Annotated[Path, typer.Option("--file", "-f", help="Where to write it.")] = Path("recipe.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a commented starter recipe."""
    from gristmill.errors import RecipeError
    from gristmill.recipes import read_text

    text = read_text(name)
    if file.exists() and not force:
        raise RecipeError(f"expected no file yet, found one: {file}\n  Name another with --file, or use --force.")
    file.write_text(text, encoding="utf-8")
    typer.echo(f"Wrote {file}. Next: edit its sources, then `gristmill plan {file}`, then `gristmill run {file}`.")


@app.command("plan")
def plan_command(
    recipe: RecipePath, output: Annotated[str | None, typer.Option()] = None, allow_code: AllowCode = False
) -> None:
    """Say what a run would do, what is done already, and what it will take."""
    from rich.console import Console

    from gristmill.drive import plan
    from gristmill.report.plan import print_plan

    loaded = load_recipe(recipe, changes_of(output=output), allow_code=allow_code)
    print_plan(loaded, plan(loaded), Console())


@app.command("run")
def run_command(
    recipe: RecipePath,
    output: Annotated[str | None, typer.Option(help="Instead of the recipe's `output.path`.")] = None,
    workers: Annotated[int | None, typer.Option(help="Instead of the recipe's `engine.workers`.")] = None,
    memory: Annotated[str | None, typer.Option(help="Instead of the recipe's `engine.memory`, e.g. 4GB.")] = None,
    tasks: Annotated[int | None, typer.Option(help="Cut each source into about so many tasks.", min=1)] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this source; may be given again.")] = None,
    max_datasets: Annotated[int | None, typer.Option(help="Only the first sources.", min=1)] = None,
    limit_docs: Annotated[int | None, typer.Option(help="At most so many documents of each source.", min=1)] = None,
    scale: Annotated[float | None, typer.Option(help="Times every budget of tokens, e.g. 1e-6.")] = None,
    dedup: Annotated[
        str | None, typer.Option(help="Instead of the recipe's: exact, minhash, sentences ..., commas between.")
    ] = None,
    tokenizer: Annotated[str | None, typer.Option(help="Instead of the recipe's: a path, or a hub id.")] = None,
    local_root: Annotated[
        Path | None, typer.Option(help="Folders DIR/ORG/NAME/CONFIG in the place of hub datasets.")
    ] = None,
    texts: Annotated[
        bool | None, typer.Option("--texts", help="Keep the surviving texts as ORG_NAME/CONFIG/N.jsonl.gz too.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Read finished files against their checksums; make damaged ones again.")
    ] = False,
    logging_dir: Annotated[Path | None, typer.Option(help="Also write what happens to DIR/events.jsonl.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Carry out a recipe; run it again to resume."""
    from rich.console import Console

    from gristmill.drive import run
    from gristmill.engine.local import Observer
    from gristmill.report.events import EventLog, Observers
    from gristmill.report.inspect import print_rows
    from gristmill.report.progress import ProgressObserver
    from gristmill.report.table import print_ledger

    console = Console(quiet=quiet)
    changes = changes_of(
        output=output, workers=workers, memory=memory, tasks=tasks, only=only, max_datasets=max_datasets,
        limit_docs=limit_docs, scale=scale, dedup=dedup, local_root=local_root, tokenizer=tokenizer, texts=texts,
    )  # fmt: skip
    observers: list[Observer] = [ProgressObserver(console)]
    if logging_dir is not None:
        observers.append(EventLog(logging_dir / "events.jsonl"))
    result = run(load_recipe(recipe, changes, allow_code=allow_code), Observers(observers), check=check)
    print_ledger(result.ledger, console)
    print_rows(result.path, console, rows=1)
    console.print(f"Output: {result.path}", highlight=False, soft_wrap=True)


@app.command("verify")
def verify_command(
    target: Annotated[str, typer.Argument(help="The output folder of a run; with --sample, a recipe.")],
    sample: Annotated[
        int | None, typer.Option(help="Judge so many documents by datatrove's filters too.", min=1)
    ] = None,
) -> None:
    """Check a run's output (checksums, ledger) or, with --sample, a recipe's filters against datatrove's. The exit
    code tells."""
    from rich.console import Console

    from gristmill.finished import require_output
    from gristmill.report.verify import print_agreement, print_verification

    if sample is None:
        well = print_verification(require_output(Path(target), "ledger.json"), Console())
    else:
        from gristmill.compat.agreement import compare

        well = print_agreement(compare(load_recipe(target, []), sample), Console())
    if not well:
        raise typer.Exit(1)

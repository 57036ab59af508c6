"""Recipes: init, plan, run, verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gristmill.cli.app import RecipePath, app
from gristmill.cli.asked_recipe import changes_of, load_recipe
from gristmill.cli.recipe_options import (
    AllowCode,
    Dedup,
    LimitDocs,
    LocalRoot,
    MaxDatasets,
    Memory,
    Only,
    OutputFolder,
    Scale,
    Tasks,
    Texts,
    Tokenizer,
    Workers,
)


@app.command("init")
def init_command(
    name: Annotated[
        str, typer.Argument(help="Which starter: simple, vietnamese, multilingual, smollm3-stage1 ...")
    ] = "simple",
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
    recipe: RecipePath,
    output: OutputFolder = None,
    workers: Workers = None,
    memory: Memory = None,
    tasks: Tasks = None,
    only: Only = None,
    max_datasets: MaxDatasets = None,
    limit_docs: LimitDocs = None,
    scale: Scale = None,
    dedup: Dedup = None,
    tokenizer: Tokenizer = None,
    local_root: LocalRoot = None,
    texts: Texts = None,
    allow_code: AllowCode = False,
) -> None:
    """Say what a run would do, what is done already, and what it will take. Takes the options of `run`."""
    from rich.console import Console

    from gristmill.drive import plan
    from gristmill.report.plan import print_plan

    changes = changes_of(
        output=output, workers=workers, memory=memory, tasks=tasks, only=only, max_datasets=max_datasets,
        limit_docs=limit_docs, scale=scale, dedup=dedup, local_root=local_root, tokenizer=tokenizer, texts=texts,
    )  # fmt: skip
    loaded = load_recipe(recipe, changes, allow_code=allow_code)
    print_plan(loaded, plan(loaded), Console())


@app.command("run")
def run_command(
    recipe: RecipePath,
    output: OutputFolder = None,
    workers: Workers = None,
    memory: Memory = None,
    tasks: Tasks = None,
    only: Only = None,
    max_datasets: MaxDatasets = None,
    limit_docs: LimitDocs = None,
    scale: Scale = None,
    dedup: Dedup = None,
    tokenizer: Tokenizer = None,
    local_root: LocalRoot = None,
    texts: Texts = None,
    check: Annotated[
        bool, typer.Option("--check", help="Read finished files against their checksums; make damaged ones again.")
    ] = False,
    logging_dir: Annotated[Path | None, typer.Option(help="Also write what happens to DIR/events.jsonl.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say what happens as lines of JSON, and nothing else.")
    ] = False,
    metrics_port: Annotated[
        int | None, typer.Option(help="Serve numbers for Prometheus at 127.0.0.1:PORT/metrics.", min=0, max=65535)
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Only submit, where the engine is Slurm.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Carry out a recipe; run it again to resume."""
    from rich.console import Console

    from gristmill.drive import run
    from gristmill.places.addresses import is_remote
    from gristmill.places.opened import opened
    from gristmill.report.html import write_report
    from gristmill.report.inspect import print_rows
    from gristmill.report.table import print_ledger
    from gristmill.report.watch import watching

    console = Console(quiet=quiet or as_json)
    changes = changes_of(
        output=output, workers=workers, memory=memory, tasks=tasks, only=only, max_datasets=max_datasets,
        limit_docs=limit_docs, scale=scale, dedup=dedup, local_root=local_root, tokenizer=tokenizer, texts=texts,
    )  # fmt: skip
    with watching(console, logging_dir, as_json, metrics_port) as watch:
        asked = load_recipe(recipe, changes, allow_code=allow_code)
        result = run(asked, watch, check=check, wait=not no_wait)
        if result.submitted:
            console.print(result.submitted, highlight=False, soft_wrap=True)
            return
        folder = opened(asked.output.path)
        report = None if is_remote(asked.output.path) else write_report(folder)
        watch.done(result, report)
    print_ledger(result.ledger, console)
    print_rows(folder, console, rows=1)
    console.print(f"Output: {asked.output.path}", highlight=False, soft_wrap=True)
    if report is not None:
        console.print(f"Report: {report}", highlight=False, soft_wrap=True)


@app.command("verify")
def verify_command(
    target: Annotated[str, typer.Argument(help="A run's output folder, or that of an export; or a recipe.")],
    sample: Annotated[
        int | None,
        typer.Option(help="Encode so many documents again, not all; of a recipe: judge so many by datatrove.", min=1),
    ] = None,
    trace: Annotated[str | None, typer.Option(help="One document's story: its id, or SOURCE/CHUNK/ROW.")] = None,
    workers: Annotated[int | None, typer.Option(help="Instead of every core.", min=1)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Check a run's output: files, books, ids, and every token's way; or tell one document's story; or compare a
    recipe's filters with datatrove's. The exit code tells."""
    import json
    import os

    from rich.console import Console

    from gristmill.places.opened import opened_whole

    console = Console()
    folder = opened_whole(target)
    if not folder.is_dir():
        from gristmill.compat.agreement import compare
        from gristmill.report.verify import print_agreement

        well = print_agreement(compare(load_recipe(target, [], allow_code=allow_code), sample or 1000), console)
    elif trace is not None:
        from gristmill.finished import require_output
        from gristmill.report.trace import print_stories
        from gristmill.verification.trace import stories_of

        stories = stories_of(require_output(folder, "ledger.json"), trace)
        well = True
        if as_json:
            typer.echo(json.dumps(stories, indent=2, ensure_ascii=False))
        else:
            print_stories(stories, console)
    else:
        from gristmill.report.verify import plain_checks, print_checks
        from gristmill.verification.verify import verify

        checks = verify(folder, sample, workers or os.cpu_count() or 1)
        if as_json:
            found = plain_checks(checks)
            well = found["well"]
            typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        else:
            well = print_checks(checks, console)
    if not well:
        raise typer.Exit(1)

"""The command line: one command a user's job. Everything heavy is imported inside the command that needs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="gristmill",
    help="Raw text in, training batches out: clean, filter, deduplicate, tokenize, mix, pack, load.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

RecipePath = Annotated[str, typer.Argument(help="A recipe file, or the name of one that ships: demo, simple.")]
OutputPath = Annotated[Path, typer.Argument(help="The output folder of a run.")]


@app.command("run")
def run_command(
    recipe: RecipePath,
    output: Annotated[str | None, typer.Option(help="Instead of the recipe's `output.path`.")] = None,
    workers: Annotated[int | None, typer.Option(help="Instead of the recipe's `engine.workers`.")] = None,
    memory: Annotated[str | None, typer.Option(help="Instead of the recipe's `engine.memory`, e.g. 4GB.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Carry out a recipe; run it again to resume."""
    from rich.console import Console

    from gristmill.drive import run
    from gristmill.report.inspect import print_rows
    from gristmill.report.progress import ProgressObserver
    from gristmill.report.table import print_ledger

    console = Console(quiet=quiet)
    loaded = _load(recipe, output, workers, memory)
    result = run(loaded, ProgressObserver(console))
    print_ledger(result.ledger, console)
    print_rows(result.path, console, rows=1)
    console.print(f"Output: {result.path}", highlight=False, soft_wrap=True)


@app.command("plan")
def plan_command(recipe: RecipePath, output: Annotated[str | None, typer.Option()] = None) -> None:
    """Say what a run would do, what is done already, and what it will take."""
    from rich.console import Console

    from gristmill.drive import plan
    from gristmill.report.plan import print_plan

    loaded = _load(recipe, output)
    print_plan(loaded, plan(loaded), Console())


@app.command("report")
def report_command(output: OutputPath) -> None:
    """Print the ledger of a run, and what its filters measured."""
    from rich.console import Console

    from gristmill.engine.ledger import Ledger
    from gristmill.report.duplicates import print_clusters
    from gristmill.report.inspect import require_output
    from gristmill.report.signals import print_signals
    from gristmill.report.table import print_ledger

    console = Console()
    ledger = Ledger.read(require_output(output, "ledger.json"))
    print_signals(ledger, console)
    print_clusters(output, console)
    print_ledger(ledger, console)


@app.command("inspect")
def inspect_command(
    output: OutputPath,
    rows: Annotated[int, typer.Option(help="How many rows.", min=1)] = 3,
    first: Annotated[int, typer.Option(help="Number of the first row.", min=0)] = 0,
    duplicates: Annotated[bool, typer.Option("--duplicates", help="Pairs of duplicates instead.")] = False,
) -> None:
    """Show packed rows as text, with the documents' bounds visible; or duplicates, with what they have in common."""
    from rich.console import Console

    from gristmill.report.duplicates import print_duplicates
    from gristmill.report.inspect import print_rows

    (print_duplicates if duplicates else print_rows)(output, Console(), rows=rows, first=first)


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


@app.command("train-tokenizer")
def train_tokenizer_command(
    inputs: Annotated[list[str], typer.Argument(help="Raw text files, globs or folders.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write tokenizer.json.")],
    vocab_size: Annotated[int, typer.Option(min=257)] = 32_000,
    sample: Annotated[str, typer.Option(help="How much text to learn from, e.g. 200MB.")] = "200MB",
    text_column: Annotated[str, typer.Option()] = "text",
) -> None:
    """Train a byte-level BPE tokenizer on raw text."""
    from gristmill.quantities import parse_bytes
    from gristmill.route.tokenizer import train_on_files

    tokens = train_on_files(inputs, text_column, vocab_size, parse_bytes(sample), output)
    typer.echo(f"Wrote {output}: {tokens:,} tokens in its vocabulary.")


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

    from gristmill.report.inspect import require_output
    from gristmill.report.verify import print_agreement, print_verification

    if sample is None:
        well = print_verification(require_output(Path(target), "ledger.json"), Console())
    else:
        from gristmill.compat.agreement import compare

        well = print_agreement(compare(_load(target, None), sample), Console())
    if not well:
        raise typer.Exit(1)


def _load(recipe: str, output: str | None, workers: int | None = None, memory: str | None = None) -> Any:
    from gristmill.recipe import Recipe
    from gristmill.recipes import is_shipped, read_text

    engine = {name: value for name, value in (("workers", workers), ("memory", memory)) if value is not None}
    changes: dict[str, Any] = {}
    if output is not None:
        changes["output"] = {"path": output}
    if engine:
        changes["engine"] = engine
    if is_shipped(recipe) and not Path(recipe).exists():
        if recipe == "demo":
            from gristmill.demo import prepare

            prepare()
        return Recipe.from_text(read_text(recipe), recipe, **changes)
    return Recipe.from_yaml(recipe, **changes)


def main() -> None:
    """The entry point: errors of ours are printed without a traceback."""
    from gristmill.errors import GristmillError

    try:
        app()
    except GristmillError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted. What was finished is kept; run the same command again to go on.\n")
        sys.exit(130)

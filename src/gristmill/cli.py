"""The command line: one command a user's job. Everything heavy is imported inside the command that needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
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
_FORMATS_HELP = "gristmill, parquet, huggingface, megatron, datatrove, mds or jsonl."
OutputPath = Annotated[Path, typer.Argument(help="The output folder of a run.")]


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
    logging_dir: Annotated[Path | None, typer.Option(help="Also write what happens to DIR/events.jsonl.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
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
    changes = _changes(
        output=output, workers=workers, memory=memory, tasks=tasks, only=only, max_datasets=max_datasets,
        limit_docs=limit_docs, scale=scale, dedup=dedup, local_root=local_root, tokenizer=tokenizer, texts=texts,
    )  # fmt: skip
    observers: list[Observer] = [ProgressObserver(console)]
    if logging_dir is not None:
        observers.append(EventLog(logging_dir / "events.jsonl"))
    result = run(_load(recipe, changes), Observers(observers))
    print_ledger(result.ledger, console)
    print_rows(result.path, console, rows=1)
    console.print(f"Output: {result.path}", highlight=False, soft_wrap=True)


@app.command("plan")
def plan_command(recipe: RecipePath, output: Annotated[str | None, typer.Option()] = None) -> None:
    """Say what a run would do, what is done already, and what it will take."""
    from rich.console import Console

    from gristmill.drive import plan
    from gristmill.report.plan import print_plan

    loaded = _load(recipe, _changes(output=output))
    print_plan(loaded, plan(loaded), Console())


@app.command("report")
def report_command(output: OutputPath) -> None:
    """Print the ledger of a run, and what its filters measured."""
    from rich.console import Console

    from gristmill.engine.ledger import Ledger
    from gristmill.finished import require_output
    from gristmill.report.duplicates import print_clusters
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
    stage: Annotated[str | None, typer.Option(help="Of a mixture in stages: which one.")] = None,
    duplicates: Annotated[bool, typer.Option("--duplicates", help="Pairs of duplicates instead.")] = False,
) -> None:
    """Show packed rows as text, with the documents' bounds visible; or duplicates, with what they have in common."""
    from rich.console import Console

    from gristmill.report.duplicates import print_duplicates
    from gristmill.report.inspect import print_rows

    if duplicates:
        print_duplicates(output, Console(), rows=rows, first=first)
    else:
        print_rows(output, Console(), rows=rows, first=first, stage=stage)


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
    inputs: Annotated[list[str], typer.Argument(help="Raw text files, globs or folders; or a krill config.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write tokenizer.json.")],
    vocab_size: Annotated[int | None, typer.Option(min=257, help="32,000, or what the krill config says.")] = None,
    sample: Annotated[str, typer.Option(help="How much text to learn from, e.g. 200MB.")] = "200MB",
    text_column: Annotated[str, typer.Option()] = "text",
) -> None:
    """Train a byte-level BPE tokenizer on raw text, or as one of krill's configs says."""
    from gristmill.quantities import parse_bytes
    from gristmill.route.tokenizer import train_on_files, train_on_sources

    if inputs[0].endswith((".yaml", ".yml")):
        from gristmill.compat.krill import schema, translate

        config = schema.read(inputs[0])
        asked = vocab_size or config.tokenizer.vocab_size
        tokens = train_on_sources(translate.sources_of(config), asked, parse_bytes(sample), output)
    else:
        tokens = train_on_files(inputs, text_column, vocab_size or 32_000, parse_bytes(sample), output)
    typer.echo(f"Wrote {output}: {tokens:,} tokens in its vocabulary.")


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


@app.command("export")
def export_command(
    output: OutputPath,
    to: Annotated[str, typer.Option(help=_FORMATS_HELP)],
    destination: Annotated[
        Path | None, typer.Option("--output", help="The folder to write; else export/FORMAT in the run's.")
    ] = None,
    compression: Annotated[str, typer.Option(help="none, or codec:level such as zstd:3.")] = "none",
    shard_size: Annotated[str, typer.Option(help="Of ids in one file, before compression.")] = "200MB",
    stage: Annotated[str | None, typer.Option(help="Of a mixture in stages; else the first.")] = None,
    workers: Annotated[int | None, typer.Option(help="Instead of every core.", min=0)] = None,
    memory: Annotated[str, typer.Option(help="What all workers may use.")] = "4GB",
) -> None:
    """Write a run's packed rows in another format."""
    from rich.console import Console

    from gristmill.export import export
    from gristmill.quantities import parse_bytes
    from gristmill.report.progress import ProgressObserver
    from gristmill.report.table import print_training_set

    console = Console()
    with _usage():
        options, memory_bytes = _export_options(compression, shard_size), parse_bytes(memory)
    watcher = ProgressObserver(console)
    asked_workers = "auto" if workers is None else workers
    made = export(output, to, destination, options, asked_workers, memory_bytes, watcher, stage)
    print_training_set(made, console)


@app.command("tokenize")
def tokenize_command(
    input_dir: Annotated[str, typer.Option(help="A folder of raw files in any format that a recipe's sources take.")],
    output_dir: Annotated[Path, typer.Option(help="The folder to write; OUTPUT_DIR.work holds the stages meanwhile.")],
    tokenizer: Annotated[str, typer.Option(help="A tokenizer.json, a folder with one, or a Hub id.")],
    num_workers: Annotated[int | None, typer.Option(help="Instead of every core.", min=0)] = None,
    batch_size: Annotated[int, typer.Option(help="Documents encoded at once. Changes no byte.", min=1)] = 200,
    chunk_size: Annotated[
        int | None, typer.Option(help="Most documents or rows in a file: 10000. Not for megatron.", min=1)
    ] = None,
    sequence_length: Annotated[int | None, typer.Option(help="Pack into rows; without: a document a row.")] = None,
    strategy: Annotated[str, typer.Option(help="With --sequence-length: wrapped, best_fit or padded.")] = "best_fit",
    format_name: Annotated[str, typer.Option("--format", help=_FORMATS_HELP)] = "parquet",
    compression: Annotated[str, typer.Option(help="none, or codec:level such as zstd:3.")] = "none",
    shard_size: Annotated[str, typer.Option(help="Of ids in one file, before compression.")] = "200MB",
    text_column: Annotated[str, typer.Option()] = "text",
    append_eos: Annotated[bool, typer.Option(help="End every document with the end-of-sequence token.")] = True,
    memory: Annotated[str, typer.Option(help="What all workers may use.")] = "4GB",
    keep_work: Annotated[bool, typer.Option("--keep-work", help="Keep OUTPUT_DIR.work for another format.")] = False,
) -> None:
    """Turn a folder of raw files into training files, without a recipe; run it again to resume."""
    from rich.console import Console

    from gristmill.pretokenize import Request, tokenize_folder
    from gristmill.report.progress import ProgressObserver
    from gristmill.report.table import print_ledger, print_training_set

    console = Console()
    with _usage():
        request = Request(
            input_dir,
            output_dir,
            tokenizer,
            sequence_length,
            strategy,
            format_name,
            _export_options(compression, shard_size),
            chunk_size,
            batch_size,
            text_column,
            append_eos,
            "auto" if num_workers is None else num_workers,
            memory,
            keep_work,
        )
    done = tokenize_folder(request, ProgressObserver(console))
    print_ledger(done.ledger, console)
    print_training_set(done.set, console)


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

        well = print_agreement(compare(_load(target, []), sample), Console())
    if not well:
        raise typer.Exit(1)


def _export_options(compression: str, shard_size: str) -> Any:
    from gristmill.formats.training_sets import Compression, Options
    from gristmill.quantities import parse_bytes

    return Options(Compression.parse(compression), parse_bytes(shard_size))


@contextmanager
def _usage() -> Iterator[None]:
    """Values of options that make no sense are the user's to read, too."""
    from gristmill.errors import RecipeError

    try:
        yield
    except ValueError as error:
        raise RecipeError(str(error)) from error


def _changes(**asked: Any) -> list[Callable[[dict[str, Any]], dict[str, Any]]]:
    """What the options of `run` change in a recipe; None changes nothing."""
    from gristmill import recipe_changes
    from gristmill.recipe_changes import replaced, with_parts

    made: dict[str, Callable[[Any], Callable[[dict[str, Any]], dict[str, Any]]]] = {
        "only": lambda names: partial(recipe_changes.only_sources, names=names),
        "max_datasets": lambda count: partial(recipe_changes.first_sources, count=count),
        "limit_docs": lambda docs: partial(recipe_changes.limited, docs=docs),
        "scale": lambda factor: partial(recipe_changes.scaled, factor=factor),
        "local_root": lambda root: partial(recipe_changes.on_local_root, root=root),
        "dedup": lambda kinds: partial(replaced, key="dedup", value=kinds.split(",")),
        "tokenizer": lambda name: partial(
            replaced, key="tokenizer", value={"path" if Path(name).exists() else "hub": name}
        ),
        "output": lambda path: partial(with_parts, changes={"output": {"path": path}}),
        "texts": lambda _: partial(with_parts, changes={"output": {"texts": True}}),
        "tasks": lambda count: partial(with_parts, changes={"output": {"tasks": count}}),
        "workers": lambda count: partial(with_parts, changes={"engine": {"workers": count}}),
        "memory": lambda size: partial(with_parts, changes={"engine": {"memory": size}}),
    }
    return [make(asked[name]) for name, make in made.items() if asked.get(name) is not None]


def _load(recipe: str, changes: Sequence[Callable[[dict[str, Any]], dict[str, Any]]]) -> Any:
    from gristmill.recipe import Recipe
    from gristmill.recipes import is_shipped, read_text

    if not is_shipped(recipe) or Path(recipe).exists():
        return Recipe.from_yaml(recipe, *changes)
    if recipe == "demo":
        from gristmill.demo import prepare

        prepare()
    return Recipe.from_text(read_text(recipe), recipe, *changes)


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

"""Tokens without a recipe: tokenize, train-tokenizer. And a run's rows in other formats: export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from gristmill.cli.app import OutputPath, app

_FORMATS_HELP = "gristmill, parquet, huggingface, megatron, datatrove, mds or jsonl."


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
    from gristmill.places.opened import opened_whole
    from gristmill.quantities import parse_bytes
    from gristmill.report.progress import ProgressObserver
    from gristmill.report.table import print_training_set

    console = Console()
    with _usage():
        options, memory_bytes = _export_options(compression, shard_size), parse_bytes(memory)
    watcher = ProgressObserver(console)
    asked_workers = "auto" if workers is None else workers
    made = export(opened_whole(output), to, destination, options, asked_workers, memory_bytes, watcher, stage)
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

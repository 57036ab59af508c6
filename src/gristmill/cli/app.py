"""The application that all commands belong to, and what several of them take."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    name="gristmill",
    help="Raw text in, training batches out: clean, filter, deduplicate, tokenize, mix, pack, load.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

RecipePath = Annotated[str, typer.Argument(help="A recipe file, or the name of one that ships: demo, simple ...")]
OutputPath = Annotated[str, typer.Argument(help="The output of a run: a folder, or an address such as s3://.")]

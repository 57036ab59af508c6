"""Finished runs: report, inspect. And this machine: bench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gristmill.cli.app import OutputPath, app


@app.command("report")
def report_command(
    output: OutputPath,
    other: Annotated[str | None, typer.Argument(help="Another run's output folder, to compare with.")] = None,
    html: Annotated[bool, typer.Option("--html", help="Write a page that opens in a browser, offline.")] = False,
    to: Annotated[
        Path | None, typer.Option("--output", help="Where to write the page; by default OUTPUT/report.html.")
    ] = None,
) -> None:
    """Print the ledger of a run, and what its filters measured; or what differs between two runs. --html: as a page."""
    from rich.console import Console

    from gristmill.engine.ledger import Ledger
    from gristmill.finished import require_output
    from gristmill.places.opened import opened
    from gristmill.report.comparison import print_comparison, write_comparison
    from gristmill.report.duplicates import print_clusters
    from gristmill.report.html import write_report
    from gristmill.report.signals import print_signals
    from gristmill.report.table import print_ledger

    console = Console()
    folder = opened(output)
    if html or to is not None:
        path = write_report(folder, to) if other is None else write_comparison(folder, opened(other), to)
        console.print(f"Report: {path}", highlight=False, soft_wrap=True)
    elif other is not None:
        print_comparison(folder, opened(other), console)
    else:
        ledger = Ledger.read(require_output(folder, "ledger.json"))
        print_signals(ledger, console)
        print_clusters(folder, console)
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

    from gristmill.places.opened import opened
    from gristmill.report.duplicates import print_duplicates
    from gristmill.report.inspect import print_rows

    folder = opened(output)
    if duplicates:
        print_duplicates(folder, Console(), rows=rows, first=first)
    else:
        print_rows(folder, Console(), rows=rows, first=first, stage=stage)


@app.command("bench")
def bench_command(
    megabytes: Annotated[int, typer.Option(help="How much text of the demo's generator to run over.", min=1)] = 20,
    workers: Annotated[int | None, typer.Option(help="Instead of every core.", min=1)] = None,
) -> None:
    """Measure the route on this machine: speed and memory of every stage, over made-up text."""
    from rich.console import Console

    from gristmill.report.bench import print_bench

    print_bench(Console(), megabytes * 1_000_000, "auto" if workers is None else workers)

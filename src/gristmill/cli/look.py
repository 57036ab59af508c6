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
        Path | None, typer.Option("--output", help="Where to write the page; by default beside the output.")
    ] = None,
) -> None:
    """Print the ledger of a run, and what its filters measured; or what differs between two runs. --html: as a page."""
    from rich.console import Console

    from gristmill.engine.ledger import Ledger
    from gristmill.finished import require_output
    from gristmill.places.addresses import is_remote
    from gristmill.places.opened import opened, opened_whole
    from gristmill.report.comparison import NAME as COMPARISON
    from gristmill.report.comparison import print_comparison, write_comparison
    from gristmill.report.duplicates import print_clusters
    from gristmill.report.html import NAME as REPORT
    from gristmill.report.html import write_report
    from gristmill.report.signals import print_signals
    from gristmill.report.table import print_ledger

    console = Console()
    if html or to is not None:
        if to is None and is_remote(output if other is None else other):
            to = Path(REPORT if other is None else COMPARISON)  # what is at an address is not written to
        folder = opened_whole(output)
        if other is None:
            path = write_report(folder, to, _own_name(output))
        else:
            path = write_comparison(folder, opened_whole(other), to, _own_names(output, other))
        console.print(f"Report: {path}", highlight=False, soft_wrap=True)
    elif other is not None:
        print_comparison(opened_whole(output), opened_whole(other), console, _own_names(output, other))
    else:
        folder = opened(output)
        ledger = Ledger.read(require_output(folder, "ledger.json"))
        print_signals(ledger, console)
        print_clusters(folder, console)
        print_ledger(ledger, console)


def _own_name(address: str) -> str:
    """The last part of a path or an address."""
    return Path(address).resolve().name if "://" not in address else address.rstrip("/").rsplit("/", 1)[-1]


def _own_names(one: str, other: str) -> list[str]:
    """The last parts, or all of it where those are the same."""
    names = [_own_name(one), _own_name(other)]
    return names if names[0] != names[1] else [one, other]


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

"""Two runs side by side: what changed in the recipe, and what came of it. On a terminal or as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gristmill.engine.record import differences
from gristmill.finished import read_recipe
from gristmill.report.evidence import Evidence, gather_numbers
from gristmill.report.html import write_page

NAME = "comparison.html"


def compare(one: Path, other: Path, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The evidence of both, without texts, and where their recipes differ. Runs are called by `names`, by default as
    their folders."""
    runs = [gather_numbers(output) for output in (one, other)]
    for run, name in zip(runs, names or [run["name"] for run in runs], strict=True):
        run["name"] = name
    recipes = [read_recipe(output) for output in (one, other)]
    changes = [
        dict(zip(("place", "before", "after"), change, strict=True)) for change in differences(recipes[0], recipes[1])
    ]
    return {"runs": runs, "changes": changes}


def write_comparison(one: Path, other: Path, path: Path | None = None, names: Sequence[str] | None = None) -> Path:
    """Write the page, in the second run's folder if no path is given; returns where."""
    path = other / NAME if path is None else path
    found = compare(one, other, names)
    write_page(path, " and ".join(run["name"] for run in found["runs"]) + " · Gristmill", found)
    return path


def print_comparison(one: Path, other: Path, console: Console, names: Sequence[str] | None = None) -> None:
    """Four tables: the recipe, the funnel, rows that break each rule, the mixture."""
    found = compare(one, other, names)
    runs = found["runs"]
    if not found["changes"]:
        console.print("Both recipes are the same.")
    else:
        table = _table("What changed in the recipe", "where", runs)
        for change in found["changes"]:
            table.add_row(change["place"], change["before"], change["after"])
        console.print(table)
    _print_numbers("From rows to tokens", [_funnel(run) for run in runs], runs, console)
    _print_numbers("Rows that break each rule", [_rules(run) for run in runs], runs, console)
    _print_numbers("Tokens drawn", [_drawn(run) for run in runs], runs, console)
    _print_numbers("Tokens a document", [_lengths(run) for run in runs], runs, console)


def _funnel(run: Evidence) -> dict[str, int]:
    return {f"{step['unit']}: {step['label']}": sum(step["left"].values()) for step in run["funnel"]}


def _rules(run: Evidence) -> dict[str, int]:
    return {rule["rule"]: rule["broken"] for rule in run["rules"] if rule["broken"]}


def _drawn(run: Evidence) -> dict[str, int]:
    return {" ".join(filter(None, [share["stage"], share["source"]])): share["tokens"] for share in run["mixture"]}


def _lengths(run: Evidence) -> dict[str, int]:
    tokens = run["lengths"]["tokens"]
    found = tokens["kinds"]["tokens"]["quantiles"] if tokens else []
    return dict(zip(("5 %", "median", "95 %", "most"), found, strict=False))


def _print_numbers(title: str, numbers: list[dict[str, int]], runs: list[Evidence], console: Console) -> None:
    names = list(dict.fromkeys(name for of_run in numbers for name in of_run))
    if not names:
        return
    table = _table(title, "", runs)
    table.add_column("difference", justify="right")
    for name in names:
        before, after = (of_run.get(name, 0) for of_run in numbers)
        table.add_row(name, f"{before:,}", f"{after:,}", f"{after - before:+,}" if after != before else "")
    console.print(table)


def _table(title: str, first: str, runs: list[Evidence]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first, overflow="fold")
    for run in runs:
        table.add_column(run["name"], justify="right" if not first else "left", overflow="fold")
    return table

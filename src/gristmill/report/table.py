"""The ledger as tables on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from gristmill.engine.ledger import Ledger, total
from gristmill.export import TrainingSet
from gristmill.quantities import show_bytes, show_count
from gristmill.route.shares import mixture_shares


def print_ledger(ledger: Ledger, console: Console) -> None:
    """Three tables: what went through each stage, why documents went, and the mixture asked and achieved."""
    console.print(_stages(ledger))
    if reasons := _reasons(ledger):
        console.print(reasons)
    if mixture := _mixture(ledger):
        console.print(mixture)
    console.print("The ledger balances.", style="green")


def print_training_set(made: TrainingSet, console: Console) -> None:
    """What an export left."""
    table = Table(title=f"Training set: {made.format}", title_justify="left")
    for heading in ("rows", "tokens", "padding", "files", "bytes", "bytes a token"):
        table.add_column(heading, justify="right")
    table.add_row(
        f"{made.rows:,}",
        f"{made.tokens:,}",
        f"{1 - made.tokens / made.ids:.2%}" if made.ids else "",
        f"{len(made.files):,}",
        show_bytes(made.bytes),
        f"{made.bytes / made.tokens:.2f}" if made.tokens else "",
    )
    console.print(table)
    console.print(f"Output: {made.folder}", highlight=False, soft_wrap=True)


def _stages(ledger: Ledger) -> Table:
    table = Table(title="Stages", title_justify="left")
    for heading in ("stage", "unit"):
        table.add_column(heading)
    for heading in ("entered", "left", "gone", "share kept"):
        table.add_column(heading, justify="right")
    for stage, unit in dict.fromkeys((entry.stage, entry.unit) for entry in ledger.entries):
        entries = [entry for entry in ledger.of(stage) if entry.unit == unit]
        # Several deduplicators make several entries: the first one's documents enter, the last one's leave.
        entered = sum({entry.source: entry.entered for entry in reversed(entries)}.values())
        left = sum({entry.source: entry.left for entry in entries}.values())
        share = f"{left / entered:.1%}" if entered else ""
        table.add_row(stage, unit, f"{entered:,}", f"{left:,}", f"{entered - left:,}", share)
    return table


def _reasons(ledger: Ledger) -> Table | None:
    rows = [
        (stage, reason, count)
        for stage in ledger.stages()
        for reason, count in sorted(total(e.gone for e in ledger.of(stage)).items(), key=lambda item: -item[1])
        if count
    ]
    if not rows:
        return None
    table = Table(title="What went, and why", title_justify="left")
    table.add_column("stage")
    table.add_column("reason")
    table.add_column("count", justify="right")
    for stage, reason, count in rows:
        table.add_row(stage, reason, f"{count:,} {ledger.of(stage)[0].unit}")
    return table


def _mixture(ledger: Ledger) -> Table | None:
    shares = mixture_shares(ledger)
    if not shares:
        return None
    staged = any(share.stage for share in shares)
    table = Table(title="Mixture", title_justify="left")
    for heading in (["stage"] if staged else []) + ["source"]:
        table.add_column(heading)
    for heading in ("asked", "achieved", "tokens drawn", "available", "epochs", "documents drawn"):
        table.add_column(heading, justify="right")
    for share in shares:
        if share.requested_share or share.tokens:
            table.add_row(
                *([share.stage] if staged else []),
                share.source,
                f"{share.requested_share:.2%}",
                f"{share.achieved_share:.2%}",
                show_count(share.tokens),
                show_count(share.available_tokens),
                f"{share.epochs:.2f}",
                show_count(share.documents),
            )
    return table

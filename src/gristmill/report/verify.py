"""What `gristmill verify` found, as a table: what was checked, how much of it, and the first places that are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from gristmill.compat.agreement import Agreement
from gristmill.verification.check import Check


def print_checks(checks: Sequence[Check], console: Console) -> bool:
    """The table; True when all is well."""
    table = Table(title="Checked", title_justify="left")
    table.add_column("what")
    table.add_column("how many", justify="right")
    table.add_column("wrong", justify="right")
    for check in checks:
        what = f"{check.what} ({check.note})" if check.note else check.what
        style = "red" if check.wrong else None
        table.add_row(what, f"{check.checked:,} {check.unit}", f"{check.wrong:,}", style=style)
    console.print(table)
    for check in checks:
        for place in check.places:
            console.print(f"{check.what}: not so: {place}", style="red", highlight=False, markup=False, soft_wrap=True)
        if check.wrong > len(check.places) > 0:
            console.print(f"  {check.wrong:,} in all", style="red", highlight=False)
    problems = sum(check.wrong > 0 for check in checks)
    verdict = f"{problems} of {len(checks)} checks fail; `gristmill run RECIPE --check` makes damaged files again"
    console.print(verdict + "." if problems else "All is well.", highlight=False)
    return not problems


def plain_checks(checks: Sequence[Check]) -> dict[str, Any]:
    """The same for programs."""
    return {"well": not any(check.wrong for check in checks), "checks": [asdict(check) for check in checks]}


def print_agreement(agreements: Sequence[Agreement], console: Console) -> bool:
    """A row for each filter, then every document on which the two differ; True when there is none."""
    table = Table(title="Our filters and datatrove's", title_justify="left")
    table.add_column("filter")
    for heading in ("documents", "agree", "share"):
        table.add_column(heading, justify="right")
    for found in agreements:
        agree = found.documents - len(found.differences)
        share = f"{agree / found.documents:.4%}" if found.documents else "datatrove has none like it"
        table.add_row(found.name, f"{found.documents:,}", f"{agree:,}", share)
    console.print(table)
    for found in agreements:
        for one in found.differences:
            what = "the texts they leave differ" if one.ours == one.theirs else f"ours {one.ours}, theirs {one.theirs}"
            console.print(f"{found.name}: {one.source} {one.id}: {what}", highlight=False, markup=False, soft_wrap=True)
    return not any(found.differences for found in agreements)

"""Whether an output folder is still what its records say, and whether our filters decide as datatrove's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gristmill.compat.agreement import Agreement
from gristmill.engine import record as records
from gristmill.engine.ledger import Ledger
from gristmill.errors import GristmillError
from gristmill.formats import files
from gristmill.quantities import show_bytes


def print_verification(output: Path, console: Console) -> bool:
    """Check everything, print what was found; True when all is well."""
    checked_files = checked_bytes = 0
    problems: list[str] = []
    for record_path in sorted(output.rglob("*.json")):
        folder = record_path.parent
        record = records.read(folder, record_path.stem)
        if record is None and records.is_damaged(record_path):
            problems.append(f"damaged (or of another version): {record_path}")
        for file in record.files if record else ():
            path = folder / file.path
            checked_files += 1
            checked_bytes += file.bytes
            if not path.exists():
                problems.append(f"missing: {path}")
            elif files.checksum(path) != file.checksum:
                problems.append(f"damaged (its checksum differs): {path}")
    try:
        Ledger.read(output)
    except GristmillError as error:
        problems.append(str(error))
    for problem in problems:
        console.print(problem, style="red", highlight=False, soft_wrap=True)
    verdict = (
        f"{len(problems)} problems; `gristmill run RECIPE --check` makes damaged files again"
        if problems
        else "all is well"
    )
    console.print(f"{checked_files:,} files, {show_bytes(checked_bytes)}: {verdict}.", highlight=False)
    return not problems


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

"""Whether an output folder is still what its records say: every file's checksum, and the ledger's balance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from gristmill.engine import record as records
from gristmill.engine.ledger import Ledger
from gristmill.errors import GristmillError
from gristmill.formats import files
from gristmill.quantities import show_bytes


def print_verification(output: Path, console: Console) -> bool:
    """Check everything, print what was found; True when all is well."""
    checked_files = checked_bytes = 0
    problems: list[str] = []
    for folder, name in _recorded(output):
        record = records.read(folder, name)
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
    verdict = f"{len(problems)} problems; `gristmill run` makes damaged files again" if problems else "all is well"
    console.print(f"{checked_files:,} files, {show_bytes(checked_bytes)}: {verdict}.", highlight=False)
    return not problems


def _recorded(output: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(output.rglob("*.json")):
        if records.read(path.parent, path.stem) is not None:
            yield path.parent, path.stem

"""Requested and achieved shares, by stage and source: for tables, the report page and `mixture.csv`."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from gristmill.engine.ledger import Ledger
from gristmill.formats.files import atomic_file


@dataclass(frozen=True)
class MixtureShare:
    """What was asked of one source in one stage, and what came of it."""

    stage: str  # "" where the mixture has no stages
    source: str
    requested_share: float  # of tokens; weights divided by their sum
    achieved_share: float
    tokens: int
    documents: int
    epochs: float
    available_tokens: int
    unused_tokens: int  # when the stage was over


def mixture_shares(ledger: Ledger) -> list[MixtureShare]:
    """One for each stage and source, in the order of the stages."""
    entries = ledger.of("mix")
    names = [details["stage"] for details in entries[0].details["stages"]] if entries else []
    return [
        MixtureShare(source=entry.source, available_tokens=entry.entered, **entry.details["stages"][number])
        for number in range(len(names))
        for entry in entries
    ]


def write_shares(output: Path, ledger: Ledger) -> None:
    """Write `mixture.csv`: a heading, and a line for each share."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(MixtureShare)])
    writer.writerows(astuple(share) for share in mixture_shares(ledger))
    with atomic_file(output / "mixture.csv") as file:
        file.write(text.getvalue().encode())

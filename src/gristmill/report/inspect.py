"""Packed rows as people read them: decoded, with the documents' bounds visible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from gristmill.errors import FormatError
from gristmill.finished import pack_folder

_STYLES = ("cyan", "magenta")


def print_rows(output: Path, console: Console, rows: int, first: int = 0, stage: str | None = None) -> None:
    """Print some rows: each document's part in a colour of its own, behind a mark that names the document."""
    from tokenizers import Tokenizer

    from gristmill.formats.packed_rows import PackedRows
    from gristmill.places.opened import fetcher_of

    folder = pack_folder(output, stage)
    packed = PackedRows.open(folder, fetcher_of(folder))
    if first >= len(packed):
        raise FormatError(f"expected a row number below {len(packed):,}, found {first:,}: {folder}")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for row in range(first, min(first + rows, len(packed))):
        console.print(_heading(packed, row), style="bold", highlight=False)
        console.print(_row_text(packed, row, tokenizer), soft_wrap=True)


def _heading(packed: Any, row: int) -> str:
    length = packed.length(row)
    width = packed.manifest.layout.sequence_length
    parts = len(packed.segments(row).start)
    return f"Row {row:,} of {len(packed):,}: {length:,} tokens of {parts} documents, {width - length:,} of padding"


def _row_text(packed: Any, row: int, tokenizer: Any) -> Text:
    segments = packed.segments(row)
    ids = packed.ids(row)
    stops = [*segments.start[1:], packed.length(row)]
    names = packed.manifest.layout.sources
    text = Text()
    for number, (start, stop) in enumerate(zip(segments.start, stops, strict=True)):
        source, document, token = (int(column[number]) for column in segments[2:5])
        further = f", from token {token:,}" if token else ""
        text.append(f"⟦{names[source]} {document}{further}⟧ ", style="bold yellow")
        part = tokenizer.decode(ids[start:stop].tolist(), skip_special_tokens=False)
        text.append(part + " ", style=_STYLES[number % len(_STYLES)])
    return text

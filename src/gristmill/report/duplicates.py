"""Duplicates as people look at them: pairs with what they have in common, clusters by size, MinHash's curve.

What enters: an output folder in which dedup is done. Texts are read from sift's files, for the documents shown only.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gristmill.dedup import sequence
from gristmill.dedup.curve import curve
from gristmill.finished import read_recipe, require_output
from gristmill.formats.files import read_json
from gristmill.places.opened import bring
from gristmill.recipe import Recipe
from gristmill.units import choose, is_foreign

_WORDS_COMPARED = 400  # of each text, from its beginning: difflib's time grows with the square
_COMMON, _OWN = "green", "bold red"
_TEXT_SHOWN = 160

Parts = list[tuple[str, bool]]  # of a text, in order; True where the other text has it too


class Document(NamedTuple):
    """One document's place."""

    source: str
    chunk: int
    row: int


class Pair(NamedTuple):
    """One document that goes, why, and the one that stays, if it is known."""

    kind: str
    gone: Document
    stays: Document | None


def pairs_of(records: Iterable[dict[str, Any]]) -> Iterator[Pair]:
    """All pairs, in the order of deduplicators, sources, chunks and rows."""
    for record in records:
        for file in sorted(file["path"] for file in record["files"] if file["path"].endswith(".parquet")):
            path = bring(record["folder"] / file)
            for batch in pq.ParquetFile(path).iter_batches(batch_size=1 << 12):
                for drop in batch.to_pylist():
                    gone = Document(path.parent.name, int(path.stem), drop["row"])
                    stays = Document(drop["survivor_source"], drop["survivor_chunk"], drop["survivor_row"])
                    yield Pair(drop["kind"], gone, stays if stays.source is not None else None)


def print_duplicates(output: Path, console: Console, rows: int, first: int = 0) -> None:
    """Print some pairs, one text after the other: green what both have, red what only one has."""
    require_output(output, "recipe.yaml")
    shown = 0
    for number, pair in enumerate(pairs_of(records_of(output))):
        if number < first:
            continue
        if shown == rows:
            break
        shown += 1
        _print_pair(output, console, number, pair)
    if not shown:
        console.print("No duplicates." if first == 0 else f"There are no more than {first} duplicates.")


def _print_pair(output: Path, console: Console, number: int, pair: Pair) -> None:
    gone_id, gone = document_text(output, pair.gone)
    if pair.stays is None:
        console.print(f"Pair {number:,}, {pair.kind}: {_place(pair.gone, gone_id)} goes", style="bold", highlight=False)
        console.print("for a document of an earlier run, or one in a filter, of which no text is kept", style="dim")
        console.print(Text(gone[:1000]), soft_wrap=True)
        return
    stays_id, stays = document_text(output, pair.stays)
    left, right, share = common_parts(gone, stays)
    console.print(f"Pair {number:,}, {pair.kind}: {share:.0%} of the words in common", style="bold", highlight=False)
    for verb, place, text in (
        ("goes", _place(pair.gone, gone_id), _colored(left, gone)),
        ("stays", _place(pair.stays, stays_id), _colored(right, stays)),
    ):
        console.print(Text(f"⟦{verb}: {place}⟧ ", style="bold yellow") + text, soft_wrap=True)


def common_parts(one: str, other: str) -> tuple[Parts, Parts, float]:
    """Both texts in parts, which the other has or not, and the share of words that they have in common; of long texts
    the beginnings."""
    words = [re.findall(r"\s*\S+|\s+$", text)[:_WORDS_COMPARED] for text in (one, other)]
    bare_one, bare_other = ([word.strip() for word in some] for some in words)
    matcher = difflib.SequenceMatcher(None, bare_one, bare_other, autojunk=False)
    sides: list[Parts] = []
    for side, some in enumerate(words):
        parts: Parts = []
        at = 0
        for block in matcher.get_matching_blocks():
            start = block[side]
            parts.append(("".join(some[at:start]), False))
            parts.append(("".join(some[start : start + block.size]), True))
            at = start + block.size
        sides.append(parts)
    return sides[0], sides[1], matcher.ratio()


def _colored(parts: Parts, whole: str) -> Text:
    text = Text()
    for part, common in parts:
        text.append(part, _COMMON if common else _OWN)
    if len(text) < len(whole):
        text.append(" …", "dim")
    return text


def document_text(output: Path, document: Document) -> tuple[str, str]:
    """A document's id and its text, from sift's files: kept, or dropped by the bounds of that day."""
    folder = output / "sift" / document.source
    for path in (folder / f"{document.chunk:05}.parquet", folder / "dropped" / f"{document.chunk:05}.parquet"):
        if bring(path).exists():
            with pq.ParquetFile(path, memory_map=True) as file:
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group, columns=["row"]).column("row")
                    at = pc.index(rows, pa.scalar(document.row, pa.int32())).as_py()
                    if at >= 0:
                        found = file.read_row_group(group, columns=["id", "text"]).slice(at, 1).to_pylist()[0]
                        return found["id"], found["text"]
    return "", "(its text is not kept)"


def _place(document: Document, name: str) -> str:
    return f"{name} ({document.source}, chunk {document.chunk}, row {document.row})"


def records_of(output: Path) -> Iterator[dict[str, Any]]:
    """The records of the steps that wrote drops, in the order of the recipe."""
    # Whoever looks at a folder runs no code that it names; what such a unit took away is in the ledger.
    items = [item for item in read_recipe(output).get("dedup", ()) if not is_foreign(item)]
    units = [choose("deduplicator", item).make("deduplicator") for item in items]
    for name, _ in sequence.named(units):
        folder = output / "dedup" / name
        if (folder / "drops.json").exists():
            yield {**read_json(folder / "drops.json"), "folder": folder}


def print_clusters(output: Path, console: Console) -> None:
    """Print how many clusters of which size each deduplicator found, and how the largest begin."""
    for record in records_of(output):
        sizes = {int(size): count for size, count in record["counts"].get("cluster_sizes", {}).items()}
        if not sizes:
            continue
        table = Table(title=f"Clusters of {record['folder'].name}", title_justify="left")
        for heading in ("documents in a cluster", "clusters", "documents"):
            table.add_column(heading, justify="right")
        for name, count, documents in binned_sizes(sizes):
            table.add_row(name, f"{count:,}", f"{documents:,}")
        console.print(table)
        for cluster in record["counts"]["largest_clusters"][:3]:
            document = Document(*cluster["members"][0])
            name, text = document_text(output, document)
            beginning = " ".join(text[:_TEXT_SHOWN].split())
            console.print(
                f"{cluster['size']:,} like {_place(document, name)}: {beginning}", highlight=False, markup=False
            )


def binned_sizes(sizes: dict[int, int]) -> list[tuple[str, int, int]]:
    """Clusters and documents by size: 2, 3, 4, then doubling."""
    bounds = [2, 3, 4]
    while bounds[-1] < max(sizes):
        bounds.append(2 * bounds[-1])
    rows = []
    for low, high in zip([1, *bounds], bounds, strict=False):
        within = {size: count for size, count in sizes.items() if low < size <= high}
        if within:
            name = str(high) if high == low + 1 else f"{low + 1:,} to {high:,}"
            rows.append((name, sum(within.values()), sum(size * count for size, count in within.items())))
    return rows


def print_curves(recipe: Recipe, console: Console) -> None:
    """Print, for each MinHash of a recipe, how likely it finds pairs of some similarities."""
    for choice in recipe.dedup:
        unit = choice.make("deduplicator")
        if hasattr(unit, "shape"):
            buckets, hashes = unit.shape()
            found = _points(curve(buckets, hashes))
            console.print(f"{choice.name}, {buckets} buckets of {hashes} hashes, finds: {found}", highlight=False)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{found:.2g} at {similarity:g}" if found < 0.01 else f"{found:.0%} at {similarity:g}"
                     for similarity, found in points)  # fmt: skip

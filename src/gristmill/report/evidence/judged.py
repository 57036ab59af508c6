"""Chunks with what was measured of their rows, judged as the run judged them; as many as a bound of rows allows.

What enters: sift's signals and judge's verdicts. What leaves: for each chunk looked at, signals, verdicts, and which
rule each row breaks. Where there are more rows than MOST_ROWS, chunks are taken at even distances.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.filters.filter import Rule
from gristmill.filters.sequence import FilterSequence
from gristmill.formats.documents import open_parquet
from gristmill.report.evidence.folder import Chunk, RunFolder

MOST_ROWS = 250_000
LABELS = ("language.label",)  # signals for people, beside those that rules look at

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class JudgedChunk:
    """One chunk's rows that could be read, in order."""

    chunk: Chunk
    filters: FilterSequence
    rows: npt.NDArray[np.int32]
    verdicts: Any  # strings, null = kept
    signals: dict[str, Any]  # by name: numbers, or Arrow strings
    broken: list[tuple[str, Mask]]  # rule by rule, in order

    @property
    def kept(self) -> Mask:
        """Which rows no rule drops."""
        kept: Mask = pc.is_null(self.verdicts).to_numpy(zero_copy_only=False)
        return kept

    @property
    def times_broken(self) -> npt.NDArray[np.int32]:
        """How many rules each row breaks."""
        return sum((which.astype(np.int32) for _, which in self.broken), np.zeros(len(self.rows), np.int32))

    @cached_property
    def bounds(self) -> dict[str, Rule]:
        """The rules that bound a signal, by verdict."""
        return self.filters.bounds()


def judged_chunks(run: RunFolder) -> list[JudgedChunk]:
    """Some chunks, or all of a corpus that is small enough; none where the run had no judge."""
    return [_judged(run, chunk, run.filters[chunk.source]) for chunk in _looked_at(run)]


def seen(run: RunFolder, chunks: list[JudgedChunk]) -> dict[str, int]:
    """How much was looked at, of how much."""
    return {
        "chunks": len(chunks),
        "of_chunks": len(run.chunks),
        "rows": sum(len(chunk.rows) for chunk in chunks),
        "of_rows": sum(entry.entered - _without_text(entry.gone) for entry in run.ledger.of("sift")),
    }


def _without_text(gone: dict[str, int]) -> int:
    return sum(count for reason, count in gone.items() if reason.startswith(("unreadable.", "skipped.", "clean.")))


def _looked_at(run: RunFolder) -> list[Chunk]:
    """Chunks at even distances whose rows are MOST_ROWS or fewer, and at least one."""
    rows = sum(entry.entered for entry in run.ledger.of("sift"))
    wanted = len(run.chunks) if rows <= MOST_ROWS else max(1, len(run.chunks) * MOST_ROWS // rows)
    places = np.arange(wanted) * len(run.chunks) // max(wanted, 1)
    return [run.chunks[place] for place in places.tolist()]


def _judged(run: RunFolder, chunk: Chunk, filters: FilterSequence) -> JudgedChunk:
    path = run.output / "sift" / chunk.source / f"{chunk.stem}.signals.parquet"
    names = filters.signal_names()
    with open_parquet(path) as file:
        labels = [name for name in LABELS if name in file.schema_arrow.names and name not in names]
        measured = file.read(["row", "verdict", *names, *labels], use_threads=False)
    with open_parquet(run.output / "judge" / chunk.source / f"{chunk.stem}.parquet") as file:
        verdicts = file.read(["verdict"], use_threads=False)
    readable = pc.is_null(measured["verdict"])
    measured = measured.filter(readable)
    signals = {name: _column(measured[name]) for name in (*names, *labels)}
    verdict = verdicts["verdict"].cast(pa.string()).filter(readable).combine_chunks()
    broken = filters.broken_rules(signals)
    return JudgedChunk(
        chunk, filters, measured["row"].to_numpy(), verdict, signals, [*broken, *_others(verdict, dict(broken))]
    )


def _others(verdicts: Any, known: Iterable[str]) -> list[tuple[str, Mask]]:
    """Reasons of filters that are not at hand: of them only the rows are known that they were the first to drop."""
    reasons = sorted(set(pc.unique(verdicts).drop_null().to_pylist()).difference(known))
    given = [pc.equal(verdicts, reason).fill_null(False) for reason in reasons]
    return [(reason, which.to_numpy(zero_copy_only=False)) for reason, which in zip(reasons, given, strict=True)]


def _column(column: Any) -> Any:
    """Strings as one Arrow array, numbers as numpy's."""
    column = column.combine_chunks()
    if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    return column.fill_null(0).to_numpy(zero_copy_only=False) if column.null_count else column.to_numpy()

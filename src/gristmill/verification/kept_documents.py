"""Rows and documents of a chunk: every row read is kept or carries a reason, every document that is left has tokens
or a reason, and no shard holds a document that is not left. By whole columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.formats import drops
from gristmill.formats.documents import read_batches
from gristmill.formats.token_shard import TokenShard
from gristmill.verification.check import Check
from gristmill.verification.run_folder import RunChunk

Rows = npt.NDArray[np.int32]
_NONE = np.zeros(0, np.int32)


def check_chunk(chunk: RunChunk) -> list[Check]:
    """Both statements for one chunk."""
    return [_rows_read(chunk), *_documents_left(chunk)]


def _rows_read(chunk: RunChunk) -> Check:
    check = Check("rows read are kept or carry a reason", "rows")
    counts, files = chunk.sifted, chunk.files
    read = int(counts.sifted.counts["rows"])
    signals, verdicts = _column(Path(chunk.signals), "row"), _verdicts(chunk)
    check.looked(read)
    for what, rows in (("signals", signals), ("verdicts", verdicts.rows)):
        if not np.array_equal(rows, np.arange(read)):
            check.fails(f"{chunk.name}: {len(rows):,} {what} for {read:,} rows", abs(read - len(rows)) or 1)
    if verdicts.reasons != counts.judged.counts["dropped"] or len(verdicts.kept) != counts.judged.counts["kept"]:
        check.fails(f"{chunk.name}: reasons are not those that its record counts")
    if files.dropped is not None:
        written = np.concatenate([_column(Path(path), "row") for path in (files.kept, files.dropped)])
        with_text = np.flatnonzero(~_unreadable(Path(chunk.signals)))
        missing = np.setxor1d(written, with_text)
        if len(missing) or len(written) != len(with_text):
            check.fails(f"{chunk.name}/{missing[0] if len(missing) else 0}: its text is not kept", len(missing) or 1)
    return check


def _documents_left(chunk: RunChunk) -> list[Check]:
    gone = Check("documents that go were kept before", "documents")
    left = Check("kept documents have tokens or a reason", "documents")
    kept = _verdicts(chunk).kept
    seen: Rows = _NONE
    for path in chunk.files.drops:
        rows = drops.read_rows(Path(path))
        gone.looked(len(rows))
        strangers = np.concatenate([np.setdiff1d(rows, kept), np.intersect1d(rows, seen)])
        if len(strangers):
            gone.fails(f"{chunk.name}/{strangers[0]}: dropped by {Path(path)}, but not there", len(strangers))
        seen = np.concatenate([seen, rows])
    surviving = np.setdiff1d(kept, seen)
    rows = TokenShard.open(chunk.shard).rows
    left.looked(len(surviving))
    strangers = np.setdiff1d(rows, surviving)
    if len(strangers):
        left.fails(f"{chunk.name}/{strangers[0]}: has tokens, but was not kept", len(strangers))
    if len(rows) > 1 and not (np.diff(rows) > 0).all():
        left.fails(f"{chunk.name}: its token shard holds a document twice")
    without = np.setdiff1d(surviving, rows)
    short = int(chunk.tokenized.counts["short_docs"])
    if len(without) != short:
        place = without[0] if len(without) else rows[0] if len(rows) else 0
        found = f"{len(without):,} documents without tokens, {short:,} counted as too short"
        left.fails(f"{chunk.name}/{place}: {found}", abs(len(without) - short))
    return [gone, left]


class _verdicts:  # noqa: N801  read like a function, holds what one pass tells
    """What judge said of a chunk's rows."""

    def __init__(self, chunk: RunChunk) -> None:
        self.reasons: dict[str, int] = {}
        rows, kept = [_NONE], [_NONE]
        for batch in read_batches(Path(chunk.files.verdicts), ["row", "verdict"]):
            verdicts = batch.column("verdict").cast(pa.string())
            for item in pc.value_counts(verdicts.drop_null()).to_pylist():
                self.reasons[item["values"]] = self.reasons.get(item["values"], 0) + item["counts"]
            rows.append(batch.column("row").to_numpy())
            kept.append(batch.column("row").filter(pc.is_null(verdicts)).to_numpy())
        self.rows: Rows = np.concatenate(rows)
        self.kept: Rows = np.concatenate(kept)


def _column(path: Path, name: str) -> Rows:
    return np.concatenate([_NONE, *(batch.column(name).to_numpy() for batch in read_batches(path, [name]))])


def _unreadable(signals: Path) -> npt.NDArray[np.bool_]:
    """Rows that have no text: what the reader or a cleaner said of them stands with the signals."""
    parts: Sequence[Any] = [
        pc.is_valid(batch.column("verdict")).to_numpy(zero_copy_only=False)
        for batch in read_batches(signals, ["verdict"])
    ]
    return np.concatenate([np.zeros(0, np.bool_), *parts])

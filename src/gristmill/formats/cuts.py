"""Which bytes of a chunk's documents deduplication cuts out: Parquet, `dedup/UNIT/SOURCE/00000.parquet`.

Columns: `row` (int32, ascending), `start` and `stop` (int64: bytes from the document's beginning, spans of a document
in order and apart), `newline` (a newline stands where the bytes stood). They speak of the text that the deduplicators
before in the recipe left. A chunk without cuts has no file; nor has a row of a document that goes as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.document import buffers, strings
from gristmill.errors import FormatError
from gristmill.formats.documents import DocumentWriter, read_batches

SCHEMA = pa.schema(
    [
        pa.field("row", pa.int32(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("stop", pa.int64(), nullable=False),
        pa.field("newline", pa.bool_(), nullable=False),
    ]
)


class Cuts(NamedTuple):
    """The cuts of some documents; `row` numbers them in their chunk, or, for a batch, in the batch."""

    row: npt.NDArray[np.integer[Any]]
    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]
    newline: npt.NDArray[np.bool_]

    def of(self, chosen: npt.NDArray[np.bool_] | slice) -> Cuts:
        """Only the cuts that are chosen."""
        return Cuts(self.row[chosen], self.start[chosen], self.stop[chosen], self.newline[chosen])

    def bytes(self) -> int:
        """By how much texts shrink."""
        return int((self.stop - self.start).sum() - self.newline.sum())


def joined(parts: Sequence[Cuts]) -> Cuts:
    """One after another."""
    none = Cuts(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.bool_))
    return Cuts(*(np.concatenate(columns) for columns in zip(none, *parts, strict=True)))


def write(path: Path, cuts: Cuts) -> None:
    """Write one chunk's cuts."""
    with DocumentWriter(path, SCHEMA, "cuts") as writer:
        writer.write(pa.record_batch([pa.array(column) for column in cuts], names=SCHEMA.names))


def read(path: Path) -> Cuts:
    """All cuts of a chunk."""
    batches = read_batches(path, SCHEMA.names)
    return joined([Cuts(*(column.to_numpy(zero_copy_only=False) for column in batch.columns)) for batch in batches])


def cut_rows(texts: Any, rows: npt.NDArray[np.integer[Any]], cuts: Cuts) -> Any:
    """Texts whose rows (ascending) are these, without what is cut out of them."""
    first, last = np.searchsorted(cuts.row, [rows[0], rows[-1] + 1]) if len(rows) else (0, 0)
    near = cuts.of(slice(first, last))
    places = np.minimum(np.searchsorted(rows, near.row), len(rows) - 1)
    there = rows[places] == near.row
    of_texts = near._replace(row=places).of(there)
    _require_within(texts, of_texts)
    return cut_texts(texts, of_texts)


def _require_within(texts: Any, cuts: Cuts) -> None:
    """The kernel copies what lies between: spans that no text has would be read from beyond it."""
    lengths = np.diff(buffers(texts)[0])[cuts.row]
    within = (cuts.start >= 0) & (cuts.start <= cuts.stop) & (cuts.stop <= lengths)
    apart = (np.diff(cuts.row) > 0) | ((np.diff(cuts.row) == 0) & (cuts.start[1:] >= cuts.stop[:-1]))
    if not (within.all() and apart.all()):
        raise FormatError(
            "expected cuts within their documents, in order and apart, found others: a damaged file, or one of other "
            "documents\n  Run `gristmill run RECIPE --check` to rebuild this step."
        )


def cut_texts(texts: Any, cuts: Cuts) -> Any:
    """Texts without what is cut out of them, cuts numbered by position."""
    if len(cuts.row) == 0:
        return texts
    from gristmill.kernels.cuts import Spans, without_spans

    spans = Spans(cuts.row.astype(np.int64), cuts.start, cuts.stop)
    return strings(*without_spans(*buffers(texts), spans, cuts.newline))

"""Which rows of a chunk a deduplicator takes away, and for whose sake: Parquet, `dedup/UNIT/SOURCE/00000.parquet`.

Columns: `row` (int32, ascending), `kind` (the deduplicator's name in the recipe), and the surviving document as
`survivor_source` (string), `survivor_chunk` and `survivor_row` (int32); null where it is not known by name: a document
of an earlier run, whose `kind` ends in `.earlier`, or one in a Bloom filter. A chunk without drops has no file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.formats.documents import DocumentWriter, read_batches

SCHEMA = pa.schema(
    [
        pa.field("row", pa.int32(), nullable=False),
        pa.field("kind", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("survivor_source", pa.dictionary(pa.int16(), pa.string())),
        pa.field("survivor_chunk", pa.int32()),
        pa.field("survivor_row", pa.int32()),
    ]
)


def write(path: Path, batch: Any) -> None:
    """Write one chunk's drops: a record batch with the columns of SCHEMA."""
    with DocumentWriter(path, SCHEMA, "drops") as writer:
        writer.write(batch)


def read_rows(path: Path | None) -> npt.NDArray[np.int32]:
    """The dropped rows of a chunk, ascending; empty where there is no file."""
    if path is None:
        return np.zeros(0, np.int32)
    batches = [batch.column(0).to_numpy() for batch in read_batches(path, ["row"])]
    return np.concatenate([np.zeros(0, np.int32), *batches]).astype(np.int32)

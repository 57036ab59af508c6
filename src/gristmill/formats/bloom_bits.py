"""The bits of a Bloom filter as a column file: `word`, 64 bits each."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.formats.column_file import ColumnFile, write_columns

KIND, VERSION = "Bloom filter", 1
_SCHEMA = pa.schema([pa.field("word", pa.uint64(), nullable=False)])


def write(path: str | os.PathLike[str], words: npt.NDArray[np.uint64]) -> None:
    """Write all bits."""
    write_columns(path, KIND, VERSION, _SCHEMA, [pa.record_batch([pa.array(words)], _SCHEMA)])


def read(path: str | Path) -> npt.NDArray[np.uint64]:
    """The bits, a copy that can be written to."""
    return ColumnFile(path, KIND, VERSION).batch(0).column(0).to_numpy().copy()  # type: ignore[no-any-return]

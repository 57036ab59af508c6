"""Rows as Parquet: `00000.parquet`, ..., columns as in row_columns.py. A row group is a batch of rows.

What stands for the whole set is in the schema's metadata (`gristmill.tokenizer`, ...), so a file that was moved away
from the others still says what it is. Compressed ids are split into byte streams first (BYTE_STREAM_SPLIT): their
upper halves are mostly zeros. Uncompressed they are plain, which is the fastest to write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from gristmill.formats import files, row_columns
from gristmill.formats.row_batch import About, RowBatch
from gristmill.formats.training_sets import Options, Part

_IDS = "input_ids.list.element"
_SMALL = ["attention_mask.list.element", "seq_lengths.list.element"]


def metadata(about: About) -> dict[str, str]:
    """What the schema says of all rows."""
    return {
        "gristmill.kind": "training rows",
        "gristmill.version": "1",
        **{
            f"gristmill.{name}": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in asdict(about).items()
        },
    }


class ParquetRows:
    """Writes and reads Parquet."""

    def write_part(
        self, folder: Path, stem: str, about: About, options: Options, batches: Iterable[RowBatch]
    ) -> tuple[list[str], Mapping[str, Any]]:
        """One file, one row group in memory at a time."""
        name = f"{stem}.parquet"
        schema = row_columns.schema(about, metadata(about))
        empty_rows = 0
        with (
            files.atomic(folder / name) as temporary,
            pq.ParquetWriter(
                temporary,
                schema,
                compression=options.compression.codec,
                compression_level=options.compression.level,
                use_dictionary=_SMALL,
                use_byte_stream_split=[_IDS] if options.compression.codec != "none" else False,
                write_statistics=False,
                data_page_size=1 << 20,
            ) as writer,
        ):
            for batch in batches:
                writer.write_batch(row_columns.record_batch(about, batch, schema), row_group_size=max(1, batch.rows))
                empty_rows += int((np.diff(batch.offsets) == 0).sum())
        return [name], {"empty_rows": empty_rows}

    def write_index(self, folder: Path, about: About, options: Options, parts: Sequence[Part]) -> list[str]:
        """Nothing: every file says all."""
        return []

    def count(self, folder: Path, part: Part) -> tuple[int, int]:
        """By the footer: rows, and the values of the ids' column (an empty list counts as one value there)."""
        with pq.ParquetFile(folder / part.files[0]) as file:
            footer = file.metadata
            values = sum(footer.row_group(number).column(0).num_values for number in range(footer.num_row_groups))
            return footer.num_rows, values - part.details["empty_rows"]

    def read(self, folder: Path, files: Sequence[str]) -> Iterator[Any]:
        """The ids of every row."""
        for name in files:
            with pq.ParquetFile(folder / name, memory_map=True) as file:
                for batch in file.iter_batches(batch_size=1024, columns=["input_ids"], use_threads=False):
                    yield from (row.values.to_numpy() for row in batch.column(0))

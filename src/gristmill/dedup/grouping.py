"""Group-by over all sketches, bigger than memory: DuckDB's work. It spills into a scratch folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

_BATCH_ROWS = 1 << 17


@dataclass(frozen=True)
class SketchFile:
    """One chunk's sketches: a Parquet file with `row`, `verdict` and the sketch columns; only kept rows count."""

    path: str
    chunk: int  # position among all chunks, in source order


def group_equal(
    sketches: list[SketchFile], columns: list[str], scratch: Path, memory_bytes: int, threads: int
) -> Iterator[Any]:
    """Batches (key, duplicate_of: int64), ordered by key, for each row whose columns equal those of a lower key."""
    import duckdb

    equal = ", ".join(f'"{column}"' for column in columns)
    chunks = pa.table({"path": [file.path for file in sketches], "chunk": [file.chunk for file in sketches]})
    connection = duckdb.connect(
        str(scratch / "grouping.duckdb"),
        config={
            "memory_limit": f"{memory_bytes // 1_000_000}MB",
            "temp_directory": str(scratch),
            "threads": max(1, threads),
            "preserve_insertion_order": False,
        },
    )
    try:
        connection.register("chunks", chunks)
        connection.execute(
            f"""
            CREATE TABLE sketches AS
            SELECT (chunks.chunk::BIGINT << 32) | row AS key, {equal}
            FROM read_parquet($paths, filename = true) AS files JOIN chunks ON files.filename = chunks.path
            WHERE verdict IS NULL
            """,
            {"paths": [file.path for file in sketches]},
        )
        duplicates = connection.sql(
            f"""
            SELECT sketches.key, first AS duplicate_of
            FROM sketches JOIN (
                SELECT {equal}, min(key) AS first FROM sketches GROUP BY {equal} HAVING count(*) > 1
            ) USING ({equal})
            WHERE sketches.key <> first ORDER BY sketches.key
            """
        )
        yield from duplicates.to_arrow_reader(_BATCH_ROWS)
    finally:
        connection.close()

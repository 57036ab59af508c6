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
    """One chunk's sketches and verdicts, two Parquet files with a column `row`; only rows without verdict count."""

    sketches: str
    verdicts: str
    chunk: int  # position among all chunks, in source order


def group_equal(
    sketches: list[SketchFile], columns: list[str], scratch: Path, memory_bytes: int, threads: int
) -> Iterator[Any]:
    """Batches (key, duplicate_of: int64), ordered by key, for each row whose columns equal those of a lower key."""
    import duckdb

    equal = ", ".join(f'"{column}"' for column in columns)
    numbers = [file.chunk for file in sketches]
    paths = {"sketches": [file.sketches for file in sketches], "verdicts": [file.verdicts for file in sketches]}
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
        for name, files in paths.items():
            connection.register(f"{name}_files", pa.table({"path": files, "chunk": numbers}))
            columns_of = {"sketches": f"row, {equal}", "verdicts": "row, verdict"}[name]
            connection.execute(
                f"""
                CREATE TEMP VIEW keyed_{name} AS SELECT (chunk::BIGINT << 32) | row AS key, {columns_of}
                FROM read_parquet({_literals(files)}, filename = true) AS f JOIN {name}_files ON f.filename = path
                """
            )
        connection.execute(
            f"""
            CREATE TABLE sketches AS SELECT key, {equal}
            FROM keyed_sketches JOIN (SELECT key FROM keyed_verdicts WHERE verdict IS NULL) USING (key)
            """
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


def _literals(texts: list[str]) -> str:
    """A list of texts as SQL: a view takes no parameters."""
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"

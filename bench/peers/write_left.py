"""A task of bench/peers/gristmill_dedup.py, in a file of its own because workers import it: what is left of a chunk."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.engine.step import Outcome
from gristmill.route.survivors import ChunkFiles, surviving

_SCHEMA = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])


def write(chunk: ChunkFiles, folder: Path, stem: str) -> Outcome:
    """Ids and texts as Parquet, compressed as datatrove compresses them."""
    name = f"{stem}.parquet"
    documents = 0
    with pq.ParquetWriter(folder / name, _SCHEMA, compression="zstd", use_dictionary=False) as writer:
        for batch in surviving(chunk, ["id", "text"]):
            writer.write_batch(batch.select(["id", "text"]), row_group_size=len(batch))
            documents += len(batch)
    return Outcome({"documents": documents}, [name])

"""Raw files → batches of rows: the first thing that happens to a text.

    find    what a recipe says → files
    split   files → chunks
    read    a chunk → batches of schema ROWS

and `dataset_chunks`, which is `find` and `split` in one for Hugging Face datasets. registry.py lists the formats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gristmill.sources.find import find
from gristmill.sources.piece import Chunk, Columns, InputFile, Piece
from gristmill.sources.split import even_chunk_bytes, split

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Chunk", "Columns", "InputFile", "Piece", "dataset_chunks", "even_chunk_bytes", "find", "read", "split"]

DEFAULT_BATCH_BYTES = 8 << 20


def read(chunk: Chunk, columns: Columns, batch_bytes: int = DEFAULT_BATCH_BYTES) -> Iterator[pa.RecordBatch]:
    """All rows of the chunk, good and bad, up to its limit, as batches of schema ROWS."""
    from gristmill.sources.batches import read_chunk

    return read_chunk(chunk, columns, batch_bytes)


def dataset_chunks(
    dataset: str, config: str | None, split: str | None, chunk_bytes: int, limit_docs: int | None = None
) -> list[Chunk]:
    """The rows of a Hugging Face dataset's split, cut into chunks of about `chunk_bytes`."""
    from gristmill.sources.huggingface import chunks

    return chunks(dataset, config, split, chunk_bytes, limit_docs)

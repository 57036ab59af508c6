"""Raw files → batches of rows: the first thing that happens to a text.

    find    what a recipe says → files
    split   files → chunks
    read    a chunk → batches of schema ROWS

and `dataset_chunks`, which is `find` and `split` in one for Hugging Face datasets. registry.py lists the formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gristmill.sources.find import find, links_left_out
from gristmill.sources.piece import Chunk, Columns, InputFile, Piece
from gristmill.sources.split import even_chunk_bytes, split

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Chunk",
    "Columns",
    "InputFile",
    "Piece",
    "dataset_chunks",
    "even_chunk_bytes",
    "find",
    "is_on_hub",
    "links_left_out",
    "read",
    "split",
    "split_and_limit",
]

_FIRST_DOCS = re.compile(r"(\w+)(?:\[:(\d+)\])?")  # the slices of splits that need nobody's help
_HUB_ID = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
DEFAULT_BATCH_BYTES = 8 << 20


def read(chunk: Chunk, columns: Columns, batch_bytes: int = DEFAULT_BATCH_BYTES) -> Iterator[pa.RecordBatch]:
    """All rows of the chunk, good and bad, up to its limit, as batches of schema ROWS."""
    from gristmill.sources.batches import read_chunk

    return read_chunk(chunk, columns, batch_bytes)


def dataset_chunks(
    dataset: str,
    config: str | None,
    split: str | None,
    chunk_bytes: int,
    limit_docs: int | None = None,
    tasks: int | None = None,
) -> list[Chunk]:
    """The rows of a Hugging Face dataset's split, cut into chunks of about `chunk_bytes`: its files on the hub, or
    (what lies in a folder, slices of splits, without a network) what `datasets` makes of it."""
    from gristmill.sources import hub, huggingface

    if not is_on_hub(dataset, split):
        return huggingface.chunks(dataset, config, split, chunk_bytes, limit_docs, tasks)
    name, first_docs = split_and_limit(split)
    limits = [limit for limit in (limit_docs, first_docs) if limit is not None]
    return hub.chunks(dataset, config, name, chunk_bytes, min(limits, default=None), tasks)


def is_on_hub(dataset: str, split: str | None) -> bool:
    """Whether a dataset's files are read from the hub as they are."""
    from huggingface_hub.constants import HF_HUB_OFFLINE

    may_be = _HUB_ID.fullmatch(dataset) and _FIRST_DOCS.fullmatch(split or "train")
    return bool(may_be) and not (HF_HUB_OFFLINE or Path(dataset).exists())


def split_and_limit(split: str | None) -> tuple[str, int | None]:
    """`train[:1000]` → train, 1000."""
    found = _FIRST_DOCS.fullmatch(split or "train")
    assert found is not None
    return found[1], int(found[2]) if found[2] else None

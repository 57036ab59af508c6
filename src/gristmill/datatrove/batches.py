"""Documents in batches, and their texts as a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

BATCH_CHARACTERS = 4 << 20


def batches(documents: Iterable[Any]) -> Iterator[list[Any]]:
    """The documents in their order, some megabytes of text at a time; a longer one is a batch of its own."""
    batch: list[Any] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def column_of(texts: list[str]) -> Any:
    """A large_string array; None where one of the texts has a lone surrogate, which UTF-8 cannot hold."""
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return None

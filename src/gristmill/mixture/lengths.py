"""The token counts of all documents, side by side in one array that draws can jump around in.

What enters: for each source, the token counts of its shards in order. What leaves: one uint32 array over all
documents of all sources, mapped from a nameless scratch file, so 100 million documents cost 400 MB of disk and
whatever memory the system has to spare.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.errors import SourceError

_MOST_TOKENS = np.iinfo(np.uint32).max


class Lengths(NamedTuple):
    """`tokens` of every document; the rest is for each source, `first_document` with one past the last."""

    tokens: npt.NDArray[np.uint32]
    first_document: npt.NDArray[np.int64]
    source_tokens: npt.NDArray[np.int64]
    empty_docs: npt.NDArray[np.int64]  # documents without a token: never drawn


def collect_lengths(
    sources: Sequence[Iterable[npt.ArrayLike]], scratch_folder: str | os.PathLike[str] | None = None
) -> Lengths:
    """Gather the counts of every source's shards; one shard is in memory at a time."""
    docs, tokens, empty_docs = (np.zeros(len(sources), np.int64) for _ in range(3))
    with tempfile.TemporaryFile(dir=scratch_folder) as file:
        for number, shards in enumerate(sources):
            for shard in shards:
                counts = np.asarray(shard)
                if counts.size and int(counts.max()) > _MOST_TOKENS:
                    raise SourceError(
                        f"expected documents of at most {_MOST_TOKENS:,} tokens, found one of "
                        f"{int(counts.max()):,} in source {number}\n  Split it before it enters the recipe."
                    )
                file.write(counts.astype(np.uint32).tobytes())
                docs[number] += counts.size
                tokens[number] += int(counts.sum(dtype=np.int64))
                empty_docs[number] += counts.size - np.count_nonzero(counts)
        file.flush()
        all_tokens = np.memmap(file, np.uint32, mode="r") if docs.any() else np.zeros(0, np.uint32)
    first_document = np.concatenate([[0], np.cumsum(docs)])
    return Lengths(np.asarray(all_tokens), first_document, tokens, empty_docs)

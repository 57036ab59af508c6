"""MinHash, the two steps that see documents: signatures, and the filter at the end.

The files are datatrove's, byte for byte: `bucket_NNN/RANK.minhash.sig` holds for each document its hashes in that
bucket and its number in the task, sorted. So steps of datatrove's own and of these may follow each other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt
from datatrove.pipeline.dedup import minhash as theirs
from datatrove.utils.hashing import HashConfig
from datatrove.utils.logging import logger
from datatrove.utils.text import TextNormConfig

from gristmill.datatrove import stats
from gristmill.datatrove.batches import batches, column_of
from gristmill.datatrove.words import is_english
from gristmill.document import buffers


def record_type(config: theirs.MinhashConfig, with_document: bool = True) -> np.dtype[Any]:
    """Of a signature in a bucket's file; in an index there is no document."""
    hashes = [("hashes", f"<{config.hash_config.struct_format}", (config.hashes_per_bucket,))]
    return np.dtype([*hashes, *([("document", "<u4")] if with_document else [])])


def order_of(hashes: npt.NDArray[Any], *ties: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """The order of rows of hashes, compared from the left; of equal ones by `ties`, of which the first counts most."""
    return np.lexsort([*reversed(ties), *hashes.T[::-1]])


class MinhashDedupSignature(theirs.MinhashDedupSignature):
    """The same signatures, by kernels where words are English and xxHash64 and the normal form are the defaults."""

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> None:
        """Writes a file a bucket."""
        if self.check_can_skip_sig_writing(rank)[0]:
            super().run(data, rank, world_size)
            return
        names = [f"bucket_{bucket:03d}/{rank:05d}.minhash.sig" for bucket in range(self.config.num_buckets)]
        with ExitStack() as stack:
            files = [stack.enter_context(self.output_folder.open(name, mode="wb")) for name in names]
            first = 0
            for batch in batches(data):
                with self.track_time("batch"):
                    stats.count(self, "total", len(batch))
                    for file, records in zip(files, self._records(batch, first), strict=True):
                        file.write(records.tobytes())
                    first += len(batch)
        with self.track_time("batch"):
            for name in names:
                self._sort(name)

    def _records(self, batch: list[Any], first: int) -> list[npt.NDArray[Any]]:
        """Of each bucket those of the documents that have shingles."""
        from gristmill.kernels.minhash_mersenne import minima

        offsets, shingles = self._shingles([document.text for document in batch])
        factors, addends = (constants.reshape(-1) for constants in self.parameters)
        mask = self.config.hash_config.max
        smallest = minima(offsets, shingles, factors, addends, mask)
        with_shingles = np.flatnonzero(np.diff(offsets))
        buckets = smallest[with_shingles].reshape(len(with_shingles), self.config.num_buckets, -1)
        records = np.empty((self.config.num_buckets, len(with_shingles)), record_type(self.config))
        records["hashes"] = buckets.swapaxes(0, 1)
        records["document"] = with_shingles + first
        return list(records)

    def _shingles(self, texts: list[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        from gristmill.kernels.folding import SIMPLE, fold
        from gristmill.kernels.minhash_mersenne import hash_shingles
        from gristmill.kernels.words import split_words

        column = column_of(texts) if self._has_kernels() else None
        if column is not None:
            return hash_shingles(split_words(*fold(*buffers(column), SIMPLE)), self.config.n_grams)
        each = [self.get_shingles(text).reshape(-1) for text in texts]
        return np.cumsum([0, *map(len, each)], dtype=np.int64), np.concatenate(each)

    def _has_kernels(self) -> bool:
        usual = self.config.norm_config == TextNormConfig() and self.config.hash_config == HashConfig()
        return usual and is_english(self.word_tokenizer)

    def _sort(self, name: str) -> None:
        kind = record_type(self.config)
        with self.output_folder.open(name, mode="rb") as file:
            records = np.frombuffer(file.read(), kind)
        ordered = records[order_of(records["hashes"], records["document"])]
        with self.output_folder.open(name, mode="wb") as file:
            file.write(ordered.tobytes())


class MinhashDedupFilter(theirs.MinhashDedupFilter):
    """The same documents, looked up a batch at a time."""

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yields what is kept."""
        if not self.data_folder.isfile(f"{rank:06d}.remove"):
            logger.warning(f"No .remove file for {rank=}.")
            for batch in batches(data):
                stats.count(self, "total", len(batch))
                stats.count(self, "forwarded", len(batch))
                yield from batch
            return
        removed = self._column(f"{rank:06d}.remove", 1)[:, 0]
        noted = {
            f"minhash_cluster_{what}": (dict(self._column(f"{rank:06d}.{ending}", 2).tolist()), without)
            for is_wanted, what, ending, without in (
                (self.load_cluster_ids, "id", "clusters", -1),
                (self.load_cluster_sizes, "size", "sizes", 1),
            )
            if is_wanted
        }
        first = 0
        with self.exclusion_writer or contextlib.nullcontext() as writer:
            for batch in batches(data):
                with self.track_time("batch"):
                    begin, end = np.searchsorted(removed, [first, first + len(batch)])
                    gone = set((removed[begin:end] - first).tolist())
                    for key, (of_document, without) in noted.items():
                        for row, document in enumerate(batch, first):
                            document.metadata[key] = of_document.get(row, without)
                    stats.count(self, "total", len(batch))
                    stats.count(self, "dropped", len(gone))
                    stats.count(self, "forwarded", len(batch) - len(gone))
                    first += len(batch)
                for row, document in enumerate(batch):
                    if row not in gone:
                        yield document
                    elif writer is not None:
                        writer.write(document, rank)

    def _column(self, name: str, width: int) -> npt.NDArray[np.int64]:
        with self.data_folder.open(name, "rb") as file:
            return np.frombuffer(file.read(), "<u4").astype(np.int64).reshape(-1, width)

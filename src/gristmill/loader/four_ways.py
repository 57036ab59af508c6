"""The four ways from documents to training steps, side by side, as torch datasets: two on the fly, two pretokenized.

    padded-on-the-fly, padding-free-on-the-fly    texts, tokenized while training (on_the_fly.py)
    padded, packed                                rows of a finished run

What enters: texts and a tokenizer, or a run. What leaves: items for the one collator:

    dataset = WAYS["packed"]("out/web", sequence_length=2048)
    DataLoader(dataset, batch_size=8, num_workers=2, collate_fn=Collator(dataset.pad_id))

What is guaranteed: format, tokenizer and sequence length are checked when the dataset is made. `gristmill.load` reads
pretokenized rows faster than a DataLoader does, and resumes with one integer: train with that, compare with this.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from torch.utils.data import IterableDataset

from gristmill.loader.checks import check_strategy
from gristmill.loader.collate import Batch
from gristmill.loader.collator import Collator
from gristmill.loader.loader import load
from gristmill.loader.on_the_fly import PaddedOnTheFly, PaddingFreeOnTheFly

__all__ = ["WAYS", "Collator", "PaddedOnTheFly", "PaddingFreeOnTheFly", "PretokenizedPacked", "PretokenizedPadded"]


class _Pretokenized(IterableDataset):  # type: ignore[misc]
    """Rows of a run in the order of a shuffle, dealt out to ranks and to the workers of a DataLoader."""

    strategies: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        sequence_length: int | None = None,
        tokenizer: str | os.PathLike[str] | None = None,
        shuffle_seed: int | None = None,
        epochs: int = 1,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        """As for `gristmill.load`. Raises FormatError for rows of another kind, length or tokenizer."""
        loader = load(
            path,
            sequence_length=sequence_length,
            tokenizer=tokenizer,
            shuffle_seed=shuffle_seed,
            epochs=epochs,
            rank=rank,
            world_size=world_size,
        )
        check_strategy(loader.manifest, self.strategies, path)
        self.sequence_length = loader.manifest.layout.sequence_length
        self.pad_id = loader.manifest.layout.pad_id
        self._stream = loader.torch_stream()

    def __iter__(self) -> Iterator[Batch]:
        rows: Iterator[Batch] = iter(self._stream)
        return rows


class PretokenizedPadded(_Pretokenized):
    """Rows of one document each, filled up with padding."""

    strategies = ("padded",)


class PretokenizedPacked(_Pretokenized):
    """Rows of many documents, with hardly any padding."""

    strategies = ("best_fit", "wrapped")


WAYS: Mapping[str, Any] = {
    "padded-on-the-fly": PaddedOnTheFly,
    "padding-free-on-the-fly": PaddingFreeOnTheFly,
    "padded": PretokenizedPadded,
    "packed": PretokenizedPacked,
}

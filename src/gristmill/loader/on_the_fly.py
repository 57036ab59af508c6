"""Texts → rows while training: the two ways that pretokenized rows have to beat, as fast as `tokenizers` allows.

What enters: texts, a tokenizer.json, a sequence length. What leaves: items for the one collator (collator.py), made in
the worker processes of a DataLoader, many texts to a call. Guaranteed: every token of every text is in one row; what
is longer than a row goes on in the next, as pretokenized rows do it, so that all four ways train on the same tokens.

    PaddedOnTheFly        a document a row, as long as it is: the collator pads
    PaddingFreeOnTheFly   documents end to end, cut into rows of exactly `sequence_length`; the last one is shorter
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from gristmill.errors import RecipeError, TokenizerError
from gristmill.loader.collate import Batch
from gristmill.loader.cursor import I64, Order

_TEXTS_AT_ONCE = 200


class _OnTheFly(IterableDataset):  # type: ignore[misc]
    """Texts in the order of a shuffle, dealt out to ranks and to the workers of a DataLoader."""

    def __init__(
        self,
        texts: Sequence[str],
        tokenizer: str | os.PathLike[str],
        sequence_length: int,
        *,
        eos_id: int | None = None,
        shuffle_seed: int | None = None,
        epochs: int = 1,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        """tokenizer: a tokenizer.json. eos_id: put behind every text, and pads. Others: as for `gristmill.load`."""
        if sequence_length < 1 or epochs < 1 or not 0 <= rank < world_size or not len(texts):
            raise RecipeError(
                "expected texts, a sequence_length and epochs of 1 or more and a rank below world_size, found "
                f"{len(texts)} texts, {sequence_length}, {epochs}, rank {rank} of {world_size}"
            )
        self.sequence_length = sequence_length
        self.pad_id = eos_id or 0
        self._texts = texts
        self._json = _definition(Path(tokenizer))
        self._suffix = [] if eos_id is None else [eos_id]
        self._order = Order(len(texts), shuffle_seed)
        self._positions = range(rank, epochs * len(texts), world_size)

    def __iter__(self) -> Iterator[Batch]:
        positions, worker = self._positions, get_worker_info()
        if worker is not None:
            positions = positions[worker.id :: worker.num_workers]
            os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the workers are the parallelism
        return self._rows(self._documents(positions))

    def _documents(self, positions: Sequence[int]) -> Iterator[I64]:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(self._json)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        for at in range(0, len(positions), _TEXTS_AT_ONCE):
            numbers = self._order.rows_at(np.asarray(positions[at : at + _TEXTS_AT_ONCE], np.int64)).tolist()
            texts = [self._texts[number] for number in numbers]
            for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False):
                yield np.array(encoding.ids + self._suffix, np.int64)

    @abstractmethod
    def _rows(self, documents: Iterable[I64]) -> Iterator[Batch]: ...


class PaddedOnTheFly(_OnTheFly):
    """One document a row; what is longer than a row goes on in the next."""

    def _rows(self, documents: Iterable[I64]) -> Iterator[Batch]:
        for ids in documents:
            for at in range(0, len(ids), self.sequence_length):
                part = ids[at : at + self.sequence_length]
                yield _item(part, np.arange(len(part)))


class PaddingFreeOnTheFly(_OnTheFly):
    """Documents end to end, with positions from 0 in each."""

    def _rows(self, documents: Iterable[I64]) -> Iterator[Batch]:
        waiting: list[I64] = []
        room = self.sequence_length
        for ids in documents:
            rest = ids
            while len(rest):
                part, rest = rest[:room], rest[room:]
                waiting.append(part)
                room -= len(part)
                if not room:
                    yield _end_to_end(waiting)
                    waiting, room = [], self.sequence_length
        if waiting:
            yield _end_to_end(waiting)


def _end_to_end(parts: list[I64]) -> Batch:
    return _item(np.concatenate(parts), np.concatenate([np.arange(len(part)) for part in parts]))


def _item(ids: I64, positions: I64) -> Batch:
    input_ids = torch.from_numpy(ids)
    return {"input_ids": input_ids, "labels": input_ids, "position_ids": torch.from_numpy(positions)}


def _definition(path: Path) -> str:
    from tokenizers import Tokenizer

    try:
        tokenizer: Any = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing narrower
        raise TokenizerError(f"expected a tokenizer.json, found something else ({error}): {path}") from error
    return str(tokenizer.to_str())

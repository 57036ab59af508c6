"""Tensors and torch's data classes over packed rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

from gristmill.errors import ResumeError
from gristmill.loader.collate import Batch
from gristmill.loader.collator import COLUMNS
from gristmill.loader.cursor import I64, RowOrder

_ROWS_AT_ONCE = 16

T = TypeVar("T")


def tensors(batch: Batch) -> Batch:
    """The same batch as tensors over the same memory."""
    return {name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value for name, value in batch.items()}


def pinned_tensors(batch: Batch) -> Batch:
    """The same batch as tensors in page-locked memory."""
    return {
        name: value.pin_memory() if isinstance(value, torch.Tensor) else value for name, value in tensors(batch).items()
    }


TENSORS: Mapping[str, Callable[[Batch], Batch]] = {"torch": tensors, "pinned": pinned_tensors}


def can_pin_memory() -> bool:
    """Whether there is an accelerator that page-locked memory is for; warns where there is none."""
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if accelerator is None or accelerator.type == "mps":
        found = "none" if accelerator is None else accelerator.type
        warnings.warn(
            f"pin_memory: expected an accelerator that copies from page-locked memory, found {found}; "
            "batches stay in ordinary memory",
            stacklevel=4,
        )
        return False
    return True


class _Calls(Dataset, Generic[T]):  # type: ignore[misc]
    """The dataset whose items are made by calling."""

    def __init__(self, make: Callable[[int], T]) -> None:
        self._make = make

    def __getitem__(self, step: int) -> T:
        return self._make(step)


def _unchanged(made: T) -> T:
    return made


def in_worker_processes(make: Callable[[int], T], steps: Iterable[int], workers: int, prefetch: int) -> Iterator[T]:
    """make(step) for each step, in order, called in the worker processes of a DataLoader.

    What is made travels by pickle, so it should be small. Measured with batches of 8 and 64 rows of 2,048 tokens:
    whole batches as tensors 12 and 42 M tokens/s, as arrays 52 and 27, rows as read 82 and 330.
    """
    loader = DataLoader(
        _Calls(make),
        batch_size=None,
        sampler=steps,
        num_workers=workers,
        prefetch_factor=prefetch,
        collate_fn=_unchanged,
        generator=torch.Generator(),  # else each start would draw from the training's random numbers
    )
    return iter(loader)


def _rows_of(batch: Batch) -> list[Batch]:
    columns = [torch.from_numpy(batch[name]) for name in COLUMNS]
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]


class RowDataset(Dataset):  # type: ignore[misc]
    """Map-style: item i is row i, as packed; shuffle and shard with a sampler. Picklable."""

    def __init__(self, make: Callable[[I64], Batch], rows: int) -> None:
        self._make = make
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, row: int) -> Batch:
        return self.__getitems__([range(self._rows)[row]])[0]

    def __getitems__(self, rows: Sequence[int]) -> list[Batch]:
        """What a DataLoader asks for when it wants a whole batch: one kernel call instead of many."""
        return _rows_of(self._make(np.asarray(rows, np.int64)))


class RowStream(IterableDataset):  # type: ignore[misc]
    """Iterable: one rank's rows of the stream from `begin` to `end`, dealt out to the workers of a DataLoader.

    Rank r has every world_size-th position from begin + r, worker w of n every n-th of those from its w-th: no row
    twice, none left out, for any number of workers, and ranks differ by at most one row.
    """

    def __init__(
        self, make: Callable[[I64], Batch], order: RowOrder, begin: int, end: int, rank: int, world_size: int
    ) -> None:
        self._make = make
        self._order = order
        self._positions = range(begin + rank, end, world_size)

    def __iter__(self) -> RowIterator:
        worker = get_worker_info()
        positions = self._positions[worker.id :: worker.num_workers] if worker else self._positions
        return RowIterator(self._make, self._order, positions)


class RowIterator(Iterator[Batch]):
    """The rows at some positions. Its state is how many it gave: what torchdata's StatefulDataLoader saves of each
    worker, and sets in as many workers before their first batch."""

    def __init__(self, make: Callable[[I64], Batch], order: RowOrder, positions: range) -> None:
        self._make = make
        self._order = order
        self._positions = positions
        self._given = 0
        self._made: list[Batch] = []  # rows that come next, the last one first

    def __next__(self) -> Batch:
        if not self._made:
            some = self._positions[self._given : self._given + _ROWS_AT_ONCE]
            if not some:
                raise StopIteration
            self._made = _rows_of(self._make(self._order.rows_at(np.asarray(some, np.int64))))[::-1]
        self._given += 1
        return self._made.pop()

    def state_dict(self) -> dict[str, Any]:
        """How many rows were given, and of which positions."""
        return {"given": self._given, "positions": [self._positions.start, self._positions.stop, self._positions.step]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on behind the rows that were given. Raises ResumeError where this worker has other positions."""
        mine = self.state_dict()["positions"]
        if state.get("positions") != mine:
            raise ResumeError(
                f"expected the state of a worker with positions {mine}, found {state.get('positions')}: a "
                "StatefulDataLoader resumes with the ranks and workers that it was saved with\n"
                "  Iterate `gristmill.load` itself to resume with others."
            )
        self._given, self._made = state["given"], []

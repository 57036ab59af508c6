"""The stream of batches and its state, which is one row number."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gristmill.errors import RecipeError, ResumeError
from gristmill.formats.joined_rows import JoinedRows
from gristmill.formats.packed_rows import Manifest, PackedRows
from gristmill.loader.batches import Batches, Rows
from gristmill.loader.checks import (
    Framework,
    check_options,
    check_sequence_length,
    check_tokenizer,
    choose_framework,
    find_stages,
    open_pack,
)
from gristmill.loader.collate import Batch
from gristmill.loader.curriculum import StagedOrder
from gristmill.loader.cursor import Order, RowOrder, Share
from gristmill.loader.mixture import Drawn, MixedOrder, WeightedPaths, mixed_order
from gristmill.loader.prefetch import in_order

_ENDLESS = 1 << 62  # positions; what `epochs=None` stands for


class Loader:
    """Batches of one rank, in order. `for` goes on where the state stands; the state counts what was yielded.

    The stream is `epochs` passes over all rows. A `for` that ran to the end of it leaves the loader at the
    beginning of the next such stream, shuffled anew: `for epoch in range(3): for batch in loader: ...` is three
    epochs. A loader whose state was *loaded* at the very end has nothing left, and its first `for` is empty.

    Global batch k holds the same rows for every world size with the same world_size * batch_size. Ranks that go in
    step therefore save equal states, and one rank's state is everybody's.
    """

    def __init__(
        self,
        batches: Batches,
        *,
        workers: int = 0,
        prefetch: int = 2,
        framework: Framework = "numpy",
    ) -> None:
        """Use `load`; `batches` spans one whole stream from position 0."""
        self._batches = batches
        self._workers = workers
        self._prefetch = prefetch
        self._framework = framework
        self._row = 0  # the position that comes next
        self._end = batches.end  # of the stream that is being read
        self._used_up = False  # a `for` saw that end

    @property
    def manifest(self) -> Manifest:
        """What the rows are: layout, sources, files, fingerprint."""
        return self._batches.rows.packed.manifest

    @property
    def epoch(self) -> int:
        """The epoch that the next row belongs to, from 0."""
        return self._row // self._batches.order.rows

    def __len__(self) -> int:
        """Batches of this rank in one whole stream, from its first row."""
        if self._batches.end == _ENDLESS:
            raise TypeError("a loader with epochs=None has no length")
        return len(self._batches)

    def __iter__(self) -> Iterator[Batch]:
        if self._used_up:
            self._end += self._batches.end
            self._used_up = False
        return self._from(self._row, self._end)

    def _from(self, begin: int, end: int) -> Iterator[Batch]:
        global_batch = self._batches.share.global_batch
        for step, batch in enumerate(self._made(replace(self._batches, begin=begin, end=end))):
            self._row = min(begin + (step + 1) * global_batch, end)
            yield batch
        self._row, self._used_up = end, True

    def _made(self, batches: Batches) -> Iterator[Batch]:
        steps = range(len(batches))
        if self._framework == "numpy":
            if not self._workers:
                return map(batches.batch, steps)
            return in_order(batches.batch, steps, self._workers, self._workers * self._prefetch)
        from gristmill.loader import torch_data

        tensors = torch_data.TENSORS[self._framework]
        if not self._workers:
            return map(tensors, map(batches.batch, steps))
        read = torch_data.in_worker_processes(batches.read, steps, self._workers, self._prefetch)
        return map(tensors, map(batches.expand, read))

    def row(self, number: int) -> Batch:
        """One row as a batch of its own, without the batch axis: a pure function of the row number."""
        batch = self._batches.rows.batch(np.array([number], np.int64))
        flat = {name: batch[name][0] for name in ("input_ids", "labels", "position_ids")}
        row: Batch = {**batch, **flat}
        if self._framework == "numpy":
            return row
        from gristmill.loader import torch_data

        return torch_data.tensors(row)

    def drawn(self) -> tuple[Drawn, ...]:
        """Of a mixture, what all ranks together have taken of each pack: requested and achieved shares, epochs."""
        order = self._batches.order
        if isinstance(order, MixedOrder):
            return order.drawn(self._row)
        return (Drawn(1.0, 1.0, self._row, self._row / order.rows),)

    def state_dict(self) -> dict[str, Any]:
        """Plain data: how many rows of the stream all ranks together have taken, and what must match."""
        return {"row": self._row, "fingerprint": self.manifest.fingerprint, **self._batches.order.identity()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on after the rows that a loader of any world size, batch size and workers had yielded.

        Raises ResumeError where the rows or their order are others. Call it before `iter`.
        """
        mine = self.state_dict()
        if missing := mine.keys() - state.keys():
            raise ResumeError(
                f"expected a loader's state with {', '.join(mine)}, found one without {', '.join(sorted(missing))}"
            )
        remedies = {
            "fingerprint": "Load the pack that the state was saved with, or start without the state.",
            "shuffle_seed": "Give `load` the seed that the state was saved with, or start without the state.",
            "rows_a_block": "Give `load` the weights that the state was saved with, or start without the state.",
        }
        for name, remedy in remedies.items():
            if state.get(name) != mine.get(name):
                raise ResumeError(
                    f"expected a loader's state with {name} {mine.get(name)}, found {state.get(name)}: its row number "
                    f"would mean other rows: {self._batches.rows.packed.folder}\n  {remedy}"
                )
        row = state["row"]
        if not isinstance(row, int) or not 0 <= row <= _ENDLESS:
            raise ResumeError(f"expected a loader's state with a row number, found {row!r}")
        stream = self._batches.end
        self._row, self._end, self._used_up = row, max(-(-row // stream), 1) * stream, False

    def torch_dataset(self) -> Any:
        """A map-style `torch.utils.data.Dataset`: item i is row i, without shuffle or shard (use a sampler).

        Items have `input_ids`, `labels` and `position_ids`; `collate_fn=loader.collate_rows` adds the rest.
        """
        from gristmill.loader import torch_data

        return torch_data.RowDataset(self._batches.rows.batch, self._batches.order.rows)

    def torch_stream(self) -> Any:
        """An `IterableDataset` of this rank's rows from the state on, split among a DataLoader's workers.

        Rows come in the stream's order within each worker. With `drop_last`, ranks get equally many.
        """
        from gristmill.loader import torch_data

        share, begin = self._batches.share, self._row
        rows = self._end - begin
        end = begin + (rows - rows % share.world_size if share.drop_last else rows)
        return torch_data.RowStream(
            self._batches.rows.batch, self._batches.order, begin, end, share.rank, share.world_size
        )

    @staticmethod
    def collate_rows(items: Any) -> Batch:
        """The `collate_fn` for a DataLoader of your own over `torch_dataset` or `torch_stream`."""
        from gristmill.loader.collator import Collator

        return Collator()(items)

    def __repr__(self) -> str:
        layout, share = self.manifest.layout, self._batches.share
        return (
            f"Loader({self._batches.order.rows:,} rows of {layout.sequence_length:,} tokens, at row {self._row:,}, "
            f"batches of {share.batch_size}, rank {share.rank} of {share.world_size})"
        )


def load(
    path: str | os.PathLike[str] | WeightedPaths,
    batch_size: int = 8,
    *,
    rank: int = 0,
    world_size: int = 1,
    shuffle_seed: int | None = None,
    epochs: int | None = 1,
    drop_last: bool = False,
    workers: int = 0,
    prefetch: int = 2,
    sequence_length: int | None = None,
    tokenizer: str | os.PathLike[str] | None = None,
    framework: Literal["auto", "numpy", "torch"] = "auto",
    pin_memory: bool = False,
    ignore_first_tokens: bool = False,
) -> Loader:
    """The batches of a finished run, for one rank: a dict of arrays each, see loader/collate.py.

    path: the run's output folder, or the `pack` folder in it; or a mixture, [(path, weight), ...], whose weights are
        shares of rows. Packs are only read. Of a run in stages, all stages in sequence, each shuffled within itself;
        one of them is `pack/STAGE`.
    batch_size: rows in a batch of one rank. rank, world_size: which batches are this process's.
    shuffle_seed: another order of the rows in every epoch, the same on every rank; None keeps the packed order.
    epochs: passes over all rows in one stream; None never ends. Batches may straddle two epochs. An epoch of a mixture
        has as many rows as its packs together, drawn by weight; `Loader.drawn` tells each pack's own epochs.
    drop_last: drop the last global batch if it is smaller. Without it no row is lost, but the last batches of ranks
        differ in size and high ranks may lack one: under DistributedDataParallel that hangs, so set it there.
    workers, prefetch: who makes batches ahead, and how many each. 0 makes them when asked for, which is fast
        enough for most training; else threads (NumPy) or the worker processes of a torch DataLoader.
    sequence_length, tokenizer: what the model expects; checked before the first batch. The tokenizer is a
        tokenizer.json, a folder with one, or a fingerprint.
    framework: "numpy", "torch", or "auto": torch where it is installed.
    pin_memory: tensors in page-locked memory, for copies to an accelerator beside its work; a warning says so
        where there is no accelerator, and memory stays ordinary.
    ignore_first_tokens: label -100 also at the first token of each document part, which no token precedes.
    """
    check_options(batch_size, rank, world_size, shuffle_seed, epochs, workers, prefetch, framework)
    chosen = choose_framework(framework, pin_memory)
    order: RowOrder
    packed: PackedRows
    if not isinstance(path, str | os.PathLike):
        packs, weights = [open_pack(one) for one, _ in path], [weight for _, weight in path]
        order = mixed_order([len(pack) for pack in packs], weights, shuffle_seed)
        packed = JoinedRows(packs)
    elif stages := find_stages(path):
        packs = [open_pack(stage) for stage in stages]
        order = StagedOrder(tuple(len(pack) for pack in packs), shuffle_seed)
        packed = JoinedRows(packs)
    else:
        packed = open_pack(path)
        order = Order(len(packed), shuffle_seed)
    if sequence_length is not None:
        check_sequence_length(packed.manifest, sequence_length, packed.folder)
    if tokenizer is not None:
        check_tokenizer(packed.manifest, tokenizer, packed.folder)
    if batch_size * packed.manifest.layout.sequence_length >= 1 << 31:
        raise RecipeError(
            f"expected a batch below 2^31 tokens (cu_seqlens has 32 bits), found {batch_size} rows of "
            f"{packed.manifest.layout.sequence_length}"
        )
    batches = Batches(
        Rows(packed, ignore_first_tokens),
        order,
        Share(rank, world_size, batch_size, drop_last),
        begin=0,
        end=_ENDLESS if epochs is None else epochs * order.rows,
    )
    return Loader(batches, workers=workers, prefetch=prefetch, framework=chosen)

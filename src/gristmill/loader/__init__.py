"""Packed rows → batches: what a training step reads.

What enters: a finished run's output folder, or the pack in it. What leaves: `Loader`, a stream of batches.
What is guaranteed: `row(i)` is pure, every row comes exactly once an epoch over all ranks and workers, and one
integer resumes the stream exactly under any other world size, batch size or number of workers.

    loader.py      load, Loader: the stream and its state
    cursor.py      which row stands where in the stream, and whose it is
    mixture.py     the same over several packs, by weight
    batches.py     batch number → batch
    collate.py     rows → the arrays of a batch
    prefetch.py    batches made ahead by threads, without torch
    checks.py      what is refused before the first batch

These import torch:

    torch_data.py  tensors, and torch's data classes over packed rows
    attention.py   the document bounds of a batch as attention masks
    collator.py    rows of tensors → a batch, for a DataLoader of your own
    on_the_fly.py  texts → rows while training: the baselines to beat
    four_ways.py   those and packed rows side by side
"""

from gristmill.loader.loader import Loader, load

__all__ = ["Loader", "load"]

"""Packed rows → batches: what a training step reads.

What enters: a finished run's output folder, or the pack in it. What leaves: `Loader`, a stream of batches.
What is guaranteed: `row(i)` is pure, every row comes exactly once an epoch over all ranks and workers, and one
integer resumes the stream exactly under any other world size, batch size or number of workers.

    loader.py      load, Loader: the stream and its state
    cursor.py      which row stands where in the stream, and whose it is
    batches.py     batch number → batch
    collate.py     rows → the arrays of a batch
    prefetch.py    batches made ahead by threads, without torch
    torch_data.py  the only file that imports torch
    checks.py      what is refused before the first batch
"""

from gristmill.loader.loader import Loader, load

__all__ = ["Loader", "load"]

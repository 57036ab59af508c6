"""Batches made ahead of the consumer by threads, in order. Threads suffice: the kernels hold no GIL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def in_order(make: Callable[[int], T], steps: Iterable[int], workers: int, ahead: int) -> Iterator[T]:
    """make(step) for each step, in order, with up to `ahead` made or in the making while one is consumed.

    An exception in `make` is raised when its step's turn comes. Closing the iterator stops the threads.
    """
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="gristmill-loader") as threads:
        try:
            for step in steps:
                waiting.append(threads.submit(make, step))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

"""Worker processes, kept warm between steps. A worker that dies costs one try of the task it held, no more."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import ModuleType

from gristmill.engine.record import Record
from gristmill.engine.worker import Failure, Order, serve
from gristmill.errors import TaskError

TRIES = 3
_BASE_BYTES, _BYTES_A_DOCUMENT_BYTE = 350_000_000, 28  # of parent and worker; bench/memory_limits.py measures it
WORKER_BYTES = 700 << 20  # what one worker needs at most: libraries, a batch in its forms, tokenizer caches


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    order: Order | None = None
    called: set[str] = field(default_factory=set)  # what it was told to load, see `meanwhile`


class WorkerPool:
    """Up to `size` spawned processes, started when there is work for them."""

    def __init__(self, size: int, notice: Callable[[str], None]) -> None:
        self.size = size
        self._notice = notice
        self._workers: list[_Worker] = []

    def begin(self, function: str) -> None:
        """Starts all workers now; each calls this function, to be ready when the first orders come."""
        while len(self._workers) < self.size:
            self._spawn()
        self._occupy(function)

    def run(self, orders: Sequence[Order], meanwhile: str = "") -> Iterator[tuple[Order, Record | Failure]]:
        """Carries out every order, yielding results as they come. After a final failure no new order is begun.
        Workers for whom there is no order call `meanwhile`."""
        queue = deque(orders)
        tries: Counter[tuple[str, str]] = Counter()
        while queue or any(worker.order for worker in self._workers):
            self._hand_out(queue)
            self._occupy(meanwhile)
            for worker in self._ready():
                order = worker.order
                assert order is not None
                worker.order = None
                try:
                    result: Record | Failure = worker.pipe.recv()
                except (EOFError, OSError):
                    self._workers.remove(worker)
                    worker.process.join()
                    result = _crash(order, worker.process.exitcode)
                    tries[order.step, order.task] += 1
                    if tries[order.step, order.task] < TRIES:
                        self._notice(f"{result.message.splitlines()[0]}; trying again")
                        queue.appendleft(order)
                        continue
                if isinstance(result, Failure) and result.final:
                    queue.clear()
                yield order, result

    def _hand_out(self, queue: deque[Order]) -> None:
        while queue:
            idle = next((worker for worker in self._workers if worker.order is None), None)
            if idle is None and len(self._workers) == self.size:
                return
            worker = idle or self._spawn()
            worker.order = queue.popleft()
            try:
                worker.pipe.send(worker.order)
            except OSError:  # it died between two tasks
                queue.appendleft(worker.order)
                self._workers.remove(worker)
                worker.process.join()

    def _occupy(self, function: str) -> None:
        for worker in self._workers:
            if function and worker.order is None and function not in worker.called:
                worker.called.add(function)
                with suppress(OSError):  # it died; whoever gives it an order will notice
                    worker.pipe.send(function)

    def _ready(self) -> list[_Worker]:
        """Waits until at least one busy worker has answered or died; returns those."""
        busy = [worker for worker in self._workers if worker.order is not None]
        ready = wait([item for worker in busy for item in (worker.pipe, worker.process.sentinel)])
        return [worker for worker in busy if worker.pipe in ready or worker.process.sentinel in ready]

    def _spawn(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs,), name="gristmill-worker", daemon=True)
        with _main_module_hidden():
            process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours))
        return self._workers[-1]

    def close(self) -> None:
        """Ends the workers at once. What they have not recorded is made again; an idle one has nothing to say."""
        for worker in self._workers:
            worker.process.kill()
            worker.pipe.close()
        for worker in self._workers:
            worker.process.join()
        self._workers.clear()


@contextmanager
def _main_module_hidden() -> Iterator[None]:
    """A spawned child imports its parent's main script, which costs the time of its imports, or, where it calls us
    outside `if __name__ == "__main__"`, runs it again. Orders name modules, so no worker needs it."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def memory_for(document_bytes: int) -> int:
    """What a run takes while one worker has a document of that length: measured with every filter that ships. Gopher's
    repetition takes most (nine numbers and two hashes a word)."""
    return _BASE_BYTES + _BYTES_A_DOCUMENT_BYTE * document_bytes


def longest_that_fits(memory_bytes: int) -> int:
    """The longest document for which that memory is enough; a megabyte at least."""
    return max(1_000_000, (memory_bytes - _BASE_BYTES) // _BYTES_A_DOCUMENT_BYTE)


def worker_count(asked: int | str, memory_bytes: int) -> int:
    """How many workers to use: what was asked, or every core, but never more than the memory holds."""
    if asked == 0:
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = cores if asked == "auto" else int(asked)
    return max(1, min(wanted, memory_bytes // WORKER_BYTES))


_LESS_MEMORY = "Lower `engine.workers`, `output.chunk` or `max_document`, or give the machine more memory."
_DEATHS = {  # by signal: what ended the worker, and what to do
    signal.SIGKILL: ("by the system, most likely for lack of memory", _LESS_MEMORY),
    signal.SIGABRT: ("by itself, most likely for lack of memory", _LESS_MEMORY),
    getattr(signal, "SIGBUS", 0): (
        "by the system, as a file that it had mapped became shorter or could not grow",
        "Look whether the disk is full, and whether somebody writes to the input files.",
    ),
}


def _crash(order: Order, exit_code: int | None) -> Failure:
    how, advice = _DEATHS.get(-(exit_code or 0), ("", _LESS_MEMORY))
    how = f"{how} (signal {-exit_code})" if how and exit_code else f"with code {exit_code}"
    return Failure(
        f"a worker was ended {how} in task {order.task} of {order.step}\n  {advice}",
        detail="",
        final=False,
        error=TaskError,
    )

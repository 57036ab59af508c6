"""The child process: takes one task after another from its pipe, runs it, writes its record last.

What a task raises comes back as text; a worker that dies says nothing, and its parent notices.
"""

from __future__ import annotations

import errno
import importlib
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from gristmill.engine import record as records
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome
from gristmill.errors import GristmillError, TaskError
from gristmill.places.place import Needed, Place

_FINAL_ERRORS = (errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES, errno.EPERM)


@dataclass(frozen=True)
class Order:
    """One task, as it travels to a worker."""

    step: str
    task: str
    function: str
    work: Any
    folder: str
    fingerprint: str
    made_from: Any
    input_bytes: int
    place: Place
    needs: tuple[tuple[Needed, ...], ...] = ()


@dataclass(frozen=True)
class Failure:
    """What comes back from a task that raised."""

    message: str
    detail: str  # the traceback, or "" where the message says all
    final: bool  # others would fail in the same way (no space left, read-only): do not begin them
    error: type[GristmillError]  # what the parent raises


def serve(pipe: Connection) -> None:
    """The child's main loop. Ends when the parent closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _die_with_parent()
    while True:
        try:
            order: Order | str = pipe.recv()
        except (EOFError, OSError):
            return
        if isinstance(order, str):
            function_of(order)()
        else:
            pipe.send(carry_out(order))


def function_of(name: str) -> Callable[..., Any]:
    """The function that `module:name` names."""
    module_name, _, function_name = name.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module_name), function_name)
    return function


def carry_out(order: Order) -> Record | Failure:
    """Run one task and write its record."""
    folder = Path(order.folder)
    started = time.perf_counter()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_previous(order.place, folder, order.task)
        with order.place.held(order.needs):
            outcome: Outcome = function_of(order.function)(order.work, folder, order.task)
        record = Record(
            version=records.VERSION,
            fingerprint=order.fingerprint,
            made_from=order.made_from,
            counts=outcome.counts,
            files=tuple(records.written(folder, path) for path in outcome.files),
            notices=tuple(outcome.notices),
            seconds=round(time.perf_counter() - started, 4),
            finished=records.now(),
            input_bytes=order.input_bytes,
            peak_memory_bytes=peak_memory_bytes(),
        )
        order.place.push((folder / file.path for file in record.files), (file.checksum for file in record.files))
        records.write(folder, order.task, record)
        order.place.push([records.path_of(folder, order.task)])
        return record
    except GristmillError as error:
        return Failure(str(error), "", final=False, error=type(error))
    except (MemoryError, ImportError, OSError) as error:
        if is_lack_of_memory(error):
            advice = "Lower `engine.workers`, `output.chunk` or `max_document`, or raise `engine.memory`."
            message = f"ran out of memory in task {order.task} of {order.step}\n  {advice}"
            return Failure(message, traceback.format_exc(), final=False, error=TaskError)
        if not isinstance(error, OSError):
            return Failure(f"{type(error).__name__}: {error}", traceback.format_exc(), final=False, error=TaskError)
        where = f": {error.filename}" if error.filename else f" (below {order.folder})"
        message = f"{error.strerror or error}{where}"
        return Failure(message, traceback.format_exc(), final=error.errno in _FINAL_ERRORS, error=TaskError)
    except Exception as error:  # noqa: BLE001  a task may raise anything; it travels to the parent as text
        return Failure(f"{type(error).__name__}: {error}", traceback.format_exc(), final=False, error=TaskError)


def _remove_previous(place: Place, folder: Path, task_name: str) -> None:
    """Take away an outdated record before its files, so that no record ever speaks of files that are gone."""
    place.bring(records.path_of(folder, task_name))
    previous = records.read(folder, task_name)
    written = [folder / file.path for file in previous.files] if previous else []
    place.remove([records.path_of(folder, task_name), *written])


def is_lack_of_memory(error: BaseException) -> bool:
    """Python's own error, the system's, or a library that found no room to be loaded."""
    unloadable = isinstance(error, (ImportError, OSError)) and "failed to map segment" in str(error)
    return isinstance(error, MemoryError) or unloadable or getattr(error, "errno", None) == errno.ENOMEM


def peak_memory_bytes() -> int:
    """The most resident memory this process ever held."""
    if sys.platform == "win32":
        return 0
    import resource

    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes


def _die_with_parent() -> None:
    """On Linux, ask the kernel to end this process with its parent, so that kill -9 leaves no orphan writing."""
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1  # PR_SET_PDEATHSIG in <sys/prctl.h>
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)

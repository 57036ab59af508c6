"""Task functions for the engine's tests: in a module of their own, so that spawned workers can import them."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import Any

from gristmill.engine.step import Outcome
from gristmill.errors import SourceError
from gristmill.formats.files import atomic_file


def write_text(work: Any, folder: Path, stem: str) -> Outcome:
    with atomic_file(folder / f"{stem}.txt") as file:
        file.write(str(work).encode())
    return Outcome({"characters": len(str(work))}, [f"{stem}.txt"])


def copy_text(work: Path, folder: Path, stem: str) -> Outcome:
    return write_text(work.read_text(), folder, stem)


def die_twice(work: Path, folder: Path, stem: str) -> Outcome:
    with open(work, "ab") as tries:
        tries.write(b"x")
    if work.stat().st_size < 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return write_text("survived", folder, stem)


def die_always(work: Any, folder: Path, stem: str) -> Outcome:
    if stem == "00001":
        os.kill(os.getpid(), signal.SIGKILL)
    return write_text(work, folder, stem)


def want_too_much(work: Any, folder: Path, stem: str) -> Outcome:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    return write_text(len(bytearray(1 << 40)), folder, stem)


def fail_with_advice(work: Any, folder: Path, stem: str) -> Outcome:
    if stem == "00001":
        raise SourceError("expected rows, found none: input.jsonl")
    return write_text(work, folder, stem)


def fail_oddly(work: Any, folder: Path, stem: str) -> Outcome:
    raise ZeroDivisionError("a mistake of the task")


def fail_for_lack_of_space(work: Any, folder: Path, stem: str) -> Outcome:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "disk")

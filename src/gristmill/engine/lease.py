"""Who holds an output: one run at a time, on whatever machine, even where nobody waits for it.

A run on this machine over a local folder holds a lock of the kernel (drive.py), which goes with its process. What
outlives its process, or runs where such locks do not reach, leaves `.lease.json` in the output: who, since when, and
how to see that it is over. It is taken by making it where there is none; where there is one, it is taken over only if
its holder is gone: its jobs are no longer in Slurm's queue, its process is no longer on this machine, or it has not
said for a while that it is alive.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gristmill.errors import ResumeError
from gristmill.places.place import Place

FILE = ".lease.json"
BEAT_SECONDS = 20.0
_SILENT_SECONDS = 6 * BEAT_SECONDS


class Lease:
    """A hold on an output. Use `held`."""

    def __init__(self, place: Place, still_there: Callable[[Sequence[str]], list[str] | None]) -> None:
        """`still_there`: which of some jobs a cluster still has; None where it cannot be asked."""
        self._place = place
        self._still_there = still_there
        self._own: dict[str, Any] = {
            "host": socket.gethostname(),
            "process": os.getpid(),
        }
        self._handed_over = False
        self._stop = threading.Event()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the output. Raises ResumeError where another run is at work in it."""
        self._take()
        beat = threading.Thread(target=self._beat, name="gristmill-lease", daemon=True)
        beat.start()
        try:
            yield
        finally:
            self._stop.set()
            beat.join()
            if not self._handed_over or self._still_there(self._own["jobs"]) == []:
                self._place.remove_file(FILE)

    def hand_over(self, jobs: Sequence[str]) -> None:
        """From now on these jobs hold it, whether this process lives or not."""
        self._own["jobs"] = list(jobs)
        self._handed_over = True
        self._write()

    def _take(self) -> None:
        for _ in range(3):
            if self._place.create(FILE, self._content()):
                return
            found = self._place.read_bytes(FILE)
            if found is not None and (why := self._alive(json.loads(found))):
                raise ResumeError(
                    f"expected an output folder of its own, found another run at work in it: {self._place.address}\n"
                    f"  {why}. Wait until it has ended, or give this run another `output.path`."
                )
            self._place.remove_file(FILE)
        raise ResumeError(f"expected to hold {self._place.address}, found several runs that want it")

    def _alive(self, other: dict[str, Any]) -> str:
        """Why the other holder is at work still; "" where it is gone."""
        if jobs := other.get("jobs"):
            there = self._still_there(jobs)
            if there is None:
                return (
                    f"Slurm cannot be asked from here whether its jobs {', '.join(jobs)} are over; if so, remove {FILE}"
                )
            return f"Slurm has its jobs {', '.join(there)}" if there else ""
        if other["host"] == self._own["host"]:
            return f"It is process {other['process']} of this machine" if _lives(other["process"]) else ""
        silent_seconds = time.time() - other["beat"]
        if silent_seconds > _SILENT_SECONDS:
            return ""
        return f"It is process {other['process']} of {other['host']}, heard of {silent_seconds:.0f} s ago"

    def _beat(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            self._write()

    def _write(self) -> None:
        self._place.write_bytes(FILE, self._content())

    def _content(self) -> bytes:
        return json.dumps({**self._own, "beat": time.time()}).encode()


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

"""How benchmarks measure: a command in a process group of its own, its wall time and the peak memory of its tree."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_SAMPLE_SECONDS = 0.05
_LOOK_SHARE = 0.04  # of a core: what looking may cost, for the kernel walks every page of a process to tell its PSS


@dataclass(frozen=True)
class Measured:
    """One run of a command."""

    seconds: float
    peak_bytes: int  # of all its processes together; memory that they share is counted once (PSS)
    peak_process_bytes: int = 0  # of the one that held most
    output: str = ""  # what it printed
    processor_seconds: float = 0.0  # of all its processes: what it took on a machine that others use, too


def measure(command: Sequence[str], **environment: str) -> Measured:
    """Run a command to its end. Raises CalledProcessError, with its output shown, where it fails."""
    import os

    started, before = time.perf_counter(), _processor_seconds()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment}
    )
    peak = _Peak(process.pid)
    peak.start()
    output, _ = process.communicate()
    seconds = time.perf_counter() - started
    peak.join()
    if process.returncode:
        sys.stderr.write(output)
        raise subprocess.CalledProcessError(process.returncode, command)
    # What forkservers start is not among the children that have ended: it was looked at on the way.
    processor_seconds = max(_processor_seconds() - before, sum(peak.processor_seconds.values()))
    return Measured(seconds, peak.bytes, peak.process_bytes, output, processor_seconds)


def best(runs: Sequence[Measured]) -> Measured:
    """The fastest time and the smallest peak of several runs."""
    return Measured(
        min(run.seconds for run in runs),
        min(run.peak_bytes for run in runs),
        min(run.peak_process_bytes for run in runs),
        runs[-1].output,
        min(run.processor_seconds for run in runs),
    )


def _processor_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


class _Peak(threading.Thread):
    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._root = psutil.Process(pid)
        self.bytes = self.process_bytes = 0
        self.processor_seconds: dict[int, float] = {}  # by process, as last seen

    def run(self) -> None:
        while True:
            began = time.thread_time()
            try:
                tree = [self._root, *self._root.children(recursive=True)]
                if self._root.status() == psutil.STATUS_ZOMBIE:
                    return
            except psutil.NoSuchProcess:
                return
            held = [_pss_bytes(process) for process in tree]
            for process in tree:
                with contextlib.suppress(psutil.NoSuchProcess):  # it ended between two looks
                    used = process.cpu_times()
                    self.processor_seconds[process.pid] = used.user + used.system
            self.bytes = max(self.bytes, sum(held))
            self.process_bytes = max(self.process_bytes, *held)
            time.sleep(max(_SAMPLE_SECONDS, (time.thread_time() - began) / _LOOK_SHARE))


def _pss_bytes(process: psutil.Process) -> int:
    """Memory that this process holds; pages it shares with others are split among them."""
    try:
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    except OSError:
        return 0  # it ended between two looks
    return 0

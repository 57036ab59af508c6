"""What the benches of faults and tests/faults share: runs that are killed, files that are damaged, and the
comparison of what is left with an undisturbed twin."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

STAGES = ("sift", "judge", "dedup", "tokenizer", "tokenize", "mix", "pack")
_NO_RECORDS = ("manifest.json", "ledger.json", "tokenizer.json", "stages.json")
_TOP = ("ledger.json", "mixture.csv")
_KINDS = (  # the first that fits the path below the output folder says what the file is
    ("documents", r"sift/[^/]+/\d+\.parquet"),
    ("signals", r"sift/[^/]+/\d+\.signals\.parquet"),
    ("dropped documents", r"sift/[^/]+/dropped/\d+\.parquet"),
    ("verdicts", r"judge/[^/]+/\d+\.parquet"),
    ("sorted hashes", r"dedup/[^/]+\.sorted/\d+\.arrow"),
    ("pairs", r"dedup/[^/]+\.pairs/.*\.arrow"),
    ("candidates and their sets", r"dedup/[^/]+\.(candidates|sets)/.*\.arrow"),
    ("what repeats", r"dedup/[^/]+\.[a-z]+/.*\.arrow"),
    ("cuts", r"dedup/[^/]+/[^/]+/\d+\.cuts\.\w+"),
    ("drops", r"dedup/[^/]+/[^/]+/\d+\.(drops\.)?(parquet|arrow)"),
    ("trained tokenizer", r"tokenizer/training/tokenizer\.json"),
    ("tokenizer spec", r"tokenizer/tokenizer\.spec\.json"),
    ("token shard", r"tokenize/[^/]+/\d+\.arrow"),
    ("draw plan", r"mix/(.*/)?draws\.arrow"),
    ("packed rows", r"pack/(.*/)?\d+\.arrow"),
    ("manifest", r"pack/(.*/)?manifest\.json"),
    ("tokenizer beside the rows", r"pack/(.*/)?tokenizer\.json"),
    ("ledger", r"ledger\.json"),
    ("recipe", r"recipe\.yaml"),
    ("shares", r"mixture\.csv"),
    ("record", r".*\.json"),
)


def kind_of(file: Path, output: Path) -> str | None:
    """What a file of a run is; None for what is no part of its result."""
    name = file.relative_to(output).as_posix()
    if ".tmp-" in name or not (name.startswith(tuple(f"{stage}/" for stage in STAGES)) or "/" not in name):
        return None
    return next((kind for kind, pattern in _KINDS if re.fullmatch(pattern, name)), None)


def files_by_kind(output: Path) -> dict[str, list[Path]]:
    """Every file of a run that has a kind, in order."""
    found: dict[str, list[Path]] = {}
    for file in sorted(output.rglob("*")):
        kind = kind_of(file, output) if file.is_file() else None
        if kind is not None and file.name != "damaged.json":
            found.setdefault(kind, []).append(file)
    return found


def digests(output: Path) -> dict[str, str]:
    """SHA-256 of every file of an output but the records (which hold times) and the lock."""
    sums = {}
    for path in sorted(output.rglob("*")):
        is_record = path.suffix == ".json" and path.name not in (
            "manifest.json",
            "ledger.json",
            "tokenizer.json",
            "stages.json",
        )
        if path.is_file() and path.name != ".lock" and (not is_record or path.name.endswith(".spec.json")):
            sums[str(path.relative_to(output))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sums


def differing(found: dict[str, str], expected: dict[str, str]) -> list[str]:
    """The files that are not the same in both."""
    return sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))


def results(output: Path) -> dict[str, str]:
    """SHA-256 of all that a run is about: the files of the stages, the ledger, the shares. No records, no paths."""
    return {name: sum_ for name, sum_ in digests(output).items() if name in _TOP or name.split("/")[0] in STAGES}


def different_files(output: Path, twin: Path) -> list[str]:
    """What is not the same bytes in both."""
    return differing(results(output), results(twin))


def documents(output: Path) -> int:
    """How many documents the books of a run account for: those that entered its first stage."""
    entries = json.loads((output / "ledger.json").read_text())["entries"]
    return sum(entry["entered"] for entry in entries if entry["stage"] == "sift")


# ---- damage: each changes one file, and says how


def flip_bit(file: Path, rng: random.Random) -> str:
    """Another bit somewhere, the size and the time as they were."""
    status = file.stat()
    at, bit = rng.randrange(max(1, status.st_size)), rng.randrange(8)
    with open(file, "r+b") as opened:
        opened.seek(at)
        byte = opened.read(1) or b"\0"
        opened.seek(at)
        opened.write(bytes([byte[0] ^ 1 << bit]))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    return f"bit {bit} of byte {at:,}"


def tear(file: Path, rng: random.Random) -> str:
    """The end is missing, as after a write that the disk never got."""
    keep = rng.randrange(max(1, file.stat().st_size))
    os.truncate(file, keep)
    return f"torn after {keep:,} bytes"


def blank(file: Path, rng: random.Random) -> str:
    """The size is right, but a part of it was never written."""
    size = file.stat().st_size
    start = rng.randrange(max(1, size))
    with open(file, "r+b") as opened:
        opened.seek(start)
        opened.write(bytes(min(4096, size - start)))
    return f"zeros from byte {start:,}"


def delete(file: Path, rng: random.Random) -> str:
    """It is gone."""
    file.unlink(missing_ok=True)
    return "deleted"


DAMAGES = {"flip": flip_bit, "tear": tear, "blank": blank, "delete": delete}


# ---- runs


@dataclass
class Run:
    """One `gristmill run` in a process group of its own."""

    recipe: Path
    options: tuple[str, ...] = ()
    process: subprocess.Popen[str] = field(init=False)
    started: float = field(init=False)

    def __post_init__(self) -> None:
        command = [sys.executable, "-m", "gristmill", "run", str(self.recipe), "--quiet", *self.options]
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def wait(self, seconds: float | None = None) -> int | None:
        """Its exit code; None where it is still at work after so many seconds."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self, seconds: float = 900) -> tuple[int, str, float]:
        """Its exit code, what it said, and the seconds it took. Killed, and TimeoutError, where it hangs."""
        try:
            _, said = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TimeoutError(f"still at work after {seconds:.0f} s: {self.process.args}") from None
        return self.process.returncode, said, time.perf_counter() - self.started

    def workers(self) -> Iterator[psutil.Process]:
        """Its worker processes."""
        try:
            children = psutil.Process(self.process.pid).children()
        except psutil.NoSuchProcess:
            return
        for child in children:
            try:
                if "spawn_main" in " ".join(child.cmdline()):
                    yield child
            except psutil.Error:
                continue

    def kill_worker(self, rng: random.Random) -> bool:
        """kill -9 of one worker; False where there is none."""
        found = list(self.workers())
        if not found:
            return False
        try:
            rng.choice(found).kill()
        except psutil.NoSuchProcess:
            return False
        return True

    def kill(self) -> None:
        """kill -9 of the parent and all workers at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def kill_parent(self) -> None:
        """kill -9 of the parent alone: the workers have to notice."""
        self.process.kill()
        self.process.communicate()


def is_explained(said: str) -> bool:
    """Whether a failed run said why, in one of Gristmill's own errors."""
    return bool(re.search(r"^(Recipe|Source|Format|Tokenizer|Resume|Task|Ledger)Error: ", said, re.MULTILINE))

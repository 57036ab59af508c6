"""A finished run with every kind of file in it, copies of it to break, and the one question that all cases end with:
are all files of all stages the same bytes as those of the undisturbed twin, and does the ledger say the same?

Each case records what it tried, what was lost and how long the next run took; `bench/faults.py` makes a table of it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import gristmill as gm
from gristmill.demo import write_corpus
from gristmill.drive import Silent
from gristmill.report.verify import print_checks
from gristmill.verification.verify import verify

BENCH = Path(__file__).parents[2] / "bench"
_SPEC = importlib.util.spec_from_file_location("disturbance", BENCH / "disturbance.py")
assert _SPEC is not None and _SPEC.loader is not None
disturbance = importlib.util.module_from_spec(_SPEC)  # by its file: other modules there are called like folders here
sys.modules["disturbance"] = disturbance
_SPEC.loader.exec_module(disturbance)
ROUNDS = int(os.environ.get("GRISTMILL_FAULT_ROUNDS", "1"))  # how often each random case is drawn
DEDUP: list[Any] = [
    "exact",
    {"minhash": {"confirm": 0.7}},
    {"bloom": {"capacity": "20k"}},
    {"sentences": {}},
    {"substrings": {"min_bytes": 100}},
]


def write_raw(folder: Path) -> None:
    """The demo's corpus, and notes that have a passage in common."""
    write_corpus(folder, 300)
    rng = random.Random(1)
    words = ["".join(rng.choices("bdgklmnprst", k=2)) + "".join(rng.choices("aeiou", k=2)) for _ in range(400)]

    def sentences(count: int) -> str:
        return " ".join(f"{' '.join(rng.choices(words, k=9)).capitalize()}." for _ in range(count))

    passage = sentences(5)
    texts = [f"{sentences(6)} {passage} {sentences(4)}" for _ in range(60)]
    texts += [f"{passage} Short." for _ in range(5)]
    lines = [json.dumps({"text": text}) for text in texts]
    (folder / "notes.jsonl").write_text("\n".join(lines) + "\n")


def recipe_over(raw: Path, output: Path, workers: int = 0) -> dict[str, Any]:
    """Every stage and every kind of deduplication, over the demo's corpus."""
    files = {"web-en": "web-en.jsonl", "web-vi": "web-vi.jsonl.gz", "encyclopedia": "encyclopedia.parquet"}
    files["notes"] = "notes.jsonl"
    return {
        "sources": [
            {"name": name, "path": str(raw / file), "max_unreadable_ratio": 0.1} for name, file in files.items()
        ],
        "filters": [{"length": {"min_characters": 60}}, "gopher_repetition"],
        "dedup": DEDUP,
        "tokenizer": {"train": {"vocab_size": 400, "sample": "200kB"}},
        "mixture": {"seed": 1},
        "pack": {"strategy": "best_fit", "sequence_length": 256, "window": "40k"},
        "output": {"path": str(output), "chunk": "200kB"},
        "engine": {"workers": workers, "memory": "4GB"},
    }


@dataclass(frozen=True)
class Twin:
    """The undisturbed run."""

    raw: Path
    output: Path
    seconds: float
    results: dict[str, str]
    documents: int


@dataclass
class Trial:
    """One run that something happens to."""

    twin: Twin
    output: Path
    raw: Path
    rng: random.Random
    record: Callable[[str, object], None]

    def recipe(self, workers: int = 0) -> dict[str, Any]:
        return recipe_over(self.raw, self.output, workers)

    def with_own_input(self) -> None:
        """Raw files of its own, for whoever changes them; with their times, which stamps hold."""
        self.raw = self.output.parent / "raw"
        shutil.copytree(self.twin.raw, self.raw)

    def finish(self) -> None:
        """Have the finished output of the twin, with other inodes."""
        shutil.copytree(self.twin.output, self.output)

    def files(self) -> dict[str, list[Path]]:
        return disturbance.files_by_kind(self.output)

    def verify(self) -> tuple[bool, str]:
        """Whether `gristmill verify` finds all well, and what it says."""
        if not (self.output / "ledger.json").exists():
            return False, "no finished run"
        text = StringIO()
        return print_checks(verify(self.output, 20, 1), Console(file=text, width=1000)), text.getvalue()

    def ends_like_the_twin(self, fault: str, workers: int = 0, check: bool = False) -> list[str]:
        """Run once more: all must be as if nothing had happened. Returns what the run noticed."""
        watcher = Silent()
        started = time.perf_counter()
        gm.run(self.recipe(workers), watcher, check=check)
        seconds = time.perf_counter() - started
        lost = self.twin.documents - disturbance.documents(self.output)
        for name, value in (("fault", fault), ("lost", lost), ("seconds", f"{seconds:.2f}")):
            self.record(name, value)
        self.record("undisturbed", f"{self.twin.seconds:.2f}")
        found = disturbance.results(self.output)
        assert sorted(found) == sorted(self.twin.results)
        assert [name for name in found if found[name] != self.twin.results[name]] == []
        assert lost == 0
        assert self.verify()[0], self.verify()[1]
        assert not list(self.output.rglob("*.tmp-*"))
        return watcher.notices


class Interruption(Silent):
    """An observer that does something when a step begins."""

    def __init__(self, step: str, act: Callable[[], None]) -> None:
        super().__init__()
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "act", act)

    def started(self, jobs: Any, tasks_done: int) -> None:
        if any(job.step.name == self.step for job in jobs):
            self.act()


@contextmanager
def mounted(folder: Path, size_bytes: int) -> Iterator[Callable[[str], None]]:
    """A small disk at `folder`; gives what mounts it anew with other options. Skips where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, check=False) if shutil.which("mount") else None
    if done is None or done.returncode:
        pytest.skip(
            f"a small disk needs the right to mount one: {done.stderr.decode().strip() if done else 'no mount'}"
        )
    try:
        yield lambda options: _remount(folder, options)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def _remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)

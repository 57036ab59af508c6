"""A step is what a stage wants done; its tasks are the pieces that run, fail, resume and are recorded one by one.

Fingerprints are of content: a task's covers the unit's version, its literals and the checksums of what it reads.
Paths, worker counts, hosts and times never enter it. So an unchanged intermediate result stops a change there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


def fingerprint(value: Any) -> str:
    """SHA-256 of the canonical JSON of plain data."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Task:
    """One call of the step's function. `name` is the stem of its files and of its record."""

    name: str
    inputs: Mapping[str, Any]  # what makes this task's result what it is, beside the step's literals
    work: Any  # handed to the function; picklable; paths belong here
    bytes: int = 0  # of input, for progress and estimates


@dataclass(frozen=True)
class Step:
    """Tasks of one kind below one folder. `function` is `module:name`, called as function(work, folder, stem)."""

    name: str  # the folder below the output folder, e.g. "sift/web"
    function: str
    version: int
    literals: Mapping[str, Any]
    tasks: Sequence[Task] = field(repr=False)
    reads: tuple[Step, ...] = field(default=(), repr=False)  # whose files its tasks open
    meanwhile: str = ""  # `module:name`: what idle workers call, without arguments, to load what comes next
    parent_opens: bool = False  # the process that follows the route opens its files, too
    in_order: bool = False  # a task may go on in a file that the one before left open; else the largest goes first

    def task_fingerprint(self, task: Task) -> str:
        """Changes exactly when the task's result may."""
        return fingerprint(self.recipe_of(task))

    def recipe_of(self, task: Task) -> dict[str, Any]:
        """All that the fingerprint covers, as plain data: kept in the record to say *why* a task runs again."""
        return {"unit": self.function, "version": self.version, **self.literals, "inputs": dict(task.inputs)}


@dataclass
class Outcome:
    """What a task's function returns: counts for the ledger and the files it made, relative to the step's folder."""

    counts: dict[str, Any]
    files: list[str]
    notices: list[str] = field(default_factory=list)

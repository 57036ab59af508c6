"""The running numbers of a run, counted once for everybody who shows them: progress, events, metrics.

What enters: what an observer is told. What leaves: for each group of tasks its state, and drops by reason so far. Tasks
that an earlier run finished are not in it. Other threads may read it while it counts.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gristmill.engine.local import Job
from gristmill.engine.record import Record

_COUNTED = {"documents": "docs", "rows": "rows", "tokens": "tokens"}  # as people read them: as records name them
SHORT = "tokenizer.min_tokens"  # the reason of documents that tokenize leaves out


@dataclass
class StageTally:
    """One group of tasks that run side by side."""

    name: str
    tasks: int
    total_bytes: int
    tasks_ended: int = 0
    done_bytes: int = 0
    peak_memory_bytes: int = 0
    counted: Counter[str] = field(default_factory=Counter)  # documents, or rows where there are none, and tokens
    begun: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return max(time.perf_counter() - self.begun, 1e-9)

    @property
    def seconds_left(self) -> float:
        """At the speed so far."""
        return self.seconds / max(self.done_bytes, 1) * (self.total_bytes - self.done_bytes)

    @property
    def rates(self) -> dict[str, float]:
        """What is counted, a second."""
        return {name: count / self.seconds for name, count in self.counted.items() if count}


class Tally:
    """An engine.local.Observer that counts. `stages` are in the order in which they began."""

    def __init__(self) -> None:
        self.begun = time.perf_counter()
        self.stages: list[StageTally] = []
        self.dropped: Counter[str] = Counter()

    @property
    def current(self) -> StageTally:
        """The group of tasks under way, or the last one."""
        return self.stages[-1]

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:
        """A group of tasks begins."""
        self.stages.append(StageTally(name_of(jobs), len(jobs), sum(job.task.bytes for job in jobs)))

    def finished(self, job: Job, record: Record) -> None:
        """One task is done."""
        stage = self.current
        stage.tasks_ended += 1
        stage.done_bytes += job.task.bytes
        stage.peak_memory_bytes = max(stage.peak_memory_bytes, record.peak_memory_bytes)
        stage.counted.update(counts_of(record))
        self.dropped.update(drops_of(record))

    def ended(self) -> None:
        """Nothing to count."""

    def notice(self, text: str) -> None:
        """Nothing to count."""


def name_of(jobs: Sequence[Job]) -> str:
    """The stage; of deduplication, which takes several steps, the step too."""
    stage, *rest = jobs[0].step.name.split("/")
    return f"{stage} {rest[0]}" if stage == "dedup" and rest else stage


def counts_of(record: Record) -> dict[str, int]:
    """How many documents, or rows where there are none, and tokens a task's record speaks of."""
    found = {name: record.counts.get(key) for name, key in _COUNTED.items()}
    if "packed_tokens" in record.counts:
        found["tokens"] = sum(record.counts["packed_tokens"])
    counts = {name: count for name, count in found.items() if isinstance(count, int)}
    if "documents" in counts:
        counts.pop("rows", None)
    return counts


def drops_of(record: Record) -> dict[str, int]:
    """Documents that a task drops, by reason: rules of filters, kinds of duplicates, documents that are too short."""
    drops: Counter[str] = Counter()
    for reason, count in record.counts.get("dropped", {}).items():
        if isinstance(count, Mapping):  # of a deduplicator: by source, then by kind
            drops.update(count)
        else:
            drops[reason] += count
    if record.counts.get("short_docs"):
        drops[SHORT] += record.counts["short_docs"]
    return dict(drops)

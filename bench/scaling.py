"""How the route scales to a cluster: costs a MB, measured here, and a small simulation of jobs, ranks and barriers.

    python bench/scaling.py                          # measure, then 1 and 100 TB on 10 and 1,000 nodes
    python bench/scaling.py --costs costs.json       # simulate with costs measured before (--write costs.json)
    python bench/scaling.py --terabytes 10 --nodes 50 --cores 64 --node-gbs 2 --shared-gbs 40

Costs are CPU seconds of one core, for a MB of raw text or a thousand documents, as the difference of two runs in one
process (so start-up and compiling fall out, and other load on the machine hardly matters). The simulation deals tasks
to ranks as cluster/chain.py does, draws each task's luck from a lognormal distribution, adds what the disks take, and
waits at every barrier for the slowest rank.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import gristmill as gm
from gristmill.demo import write_corpus
from gristmill.drive import Silent
from gristmill.engine.local import Job
from gristmill.engine.record import Record

SIZES_DOCS = (10_000, 60_000)
WIDE = ("sift", "judge", "sorted", "pairs", "tokenize", "pack")
SINGLE = ("clusters", "mix")


@dataclass(frozen=True)
class Costs:
    """What was measured."""

    docs_a_mb: float  # of raw text
    seconds_a_mb: Mapping[str, float]  # of one core, by group; for MinHash and exact together
    read_a_mb: Mapping[str, float]  # bytes read and written for a byte of raw text
    written_a_mb: Mapping[str, float]


@dataclass(frozen=True)
class Cluster:
    """What is assumed of a cluster."""

    nodes: int
    cores: int  # of a node: ranks, each of one core
    node_gbs: float  # GB/s between a node and the shared files
    shared_gbs: float  # GB/s that the shared files give all nodes together
    random_reads: float  # a second, of the shared files
    records: float  # a second, that one process reads of the shared files
    start_seconds: float  # from the end of a job to the first task of the next
    luck: float  # sigma of the lognormal distribution of a task's time


def group_of(step: str) -> str:
    """The group of the simulation that a step belongs to."""
    stage, *rest = step.split("/")
    if stage == "dedup":
        return rest[0].partition(".")[2] or "clusters"
    return stage


class Meter(Silent):
    """Adds up CPU seconds and bytes written, by group."""

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update(seconds=Counter(), written=Counter(), read=Counter(), rows=0)

    seconds: Counter[str]
    written: Counter[str]
    read: Counter[str]

    def started(self, jobs: Sequence[Job], tasks_done: int) -> None:  # type: ignore[override]
        """The clock of a group runs."""
        self.__dict__["at"] = group_of(jobs[0].step.name), time.process_time()

    def finished(self, job: Job, record: Record) -> None:
        """What a task wrote; what it read is told by its size."""
        group = group_of(job.step.name)
        self.written[group] += sum(file.bytes for file in record.files)
        self.read[group] += job.task.bytes
        if group == "sift":
            self.__dict__["rows"] += record.counts["rows"]

    def ended(self) -> None:
        """The clock stands."""
        group, begun = self.__dict__["at"]
        self.seconds[group] += time.process_time() - begun


def measure_costs() -> Costs:
    """Two runs, one after a run that compiles; the difference is what more text costs."""
    meters, raw = [], []
    for docs in (400, *SIZES_DOCS):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            corpus = write_corpus(folder / "corpus", docs)
            raw.append(sum(path.stat().st_size for path in corpus.files.values()))
            meters.append(Meter())
            gm.run(_recipe(folder), meters[-1])
    _, less, more = meters
    megabytes = (raw[2] - raw[1]) / 1e6
    groups = [*WIDE, *SINGLE]
    return Costs(
        docs_a_mb=(more.__dict__["rows"] - less.__dict__["rows"]) / megabytes,
        seconds_a_mb={name: max(0.0, more.seconds[name] - less.seconds[name]) / megabytes for name in groups},
        read_a_mb={name: (more.read[name] - less.read[name]) / megabytes / 1e6 for name in groups},
        written_a_mb={name: (more.written[name] - less.written[name]) / megabytes / 1e6 for name in groups},
    )


def _recipe(folder: Path) -> dict[str, object]:
    return {
        "sources": [
            {"name": name, "path": str(folder / "corpus" / f"{name}*"), "max_unreadable_ratio": 0.05}
            for name in ("web-en", "web-vi", "encyclopedia")
        ],
        "filters": [
            {"length": {"min_characters": 100}}, {"language": {"keep": ["en", "vi"]}}, "gopher_repetition",
            "gopher_quality", "spam",
        ],
        "dedup": ["exact", "minhash"],
        "tokenizer": {"train": {"vocab_size": 8000, "sample": "2MB"}},
        "pack": {"sequence_length": 2048},
        "output": {"path": str(folder / "out")},
        "engine": {"workers": 0},
    }  # fmt: skip


@dataclass(frozen=True)
class Stage:
    """What one group took in the simulation."""

    name: str
    hours: float
    compute_hours: float  # were all ranks busy all the time
    bound_by: str


def simulate(costs: Costs, cluster: Cluster, terabytes: float, chunk_mb: float, seed: int = 1) -> list[Stage]:
    """The groups, one behind the other."""
    rng = np.random.default_rng(seed)
    megabytes = terabytes * 1e6
    docs = megabytes * costs.docs_a_mb
    ranks = cluster.nodes * cluster.cores
    chunks = max(1, round(megabytes / chunk_mb))
    disk_mbs = min(cluster.nodes * cluster.node_gbs, cluster.shared_gbs) * 1000
    stages = []
    for name in ("sift", "judge", "sorted", "pairs", "clusters", "tokenize", "mix", "pack"):
        cpu_seconds = costs.seconds_a_mb[name] * megabytes
        moved_mb = (costs.read_a_mb[name] + costs.written_a_mb[name]) * megabytes
        if name in SINGLE:
            parts = {"one process": cpu_seconds, "disks": moved_mb / (cluster.node_gbs * 1000)}
        else:
            parts = {
                "cores": _slowest_rank(rng, cpu_seconds, chunks, ranks, cluster.luck),
                "disks": moved_mb / disk_mbs,
                "reads of single documents": docs / cluster.random_reads if name == "pack" else 0.0,
            }
        following = chunks / cluster.records + cluster.start_seconds  # the last rank reads the records of the group
        bound_by, seconds = max(parts.items(), key=lambda part: part[1])
        if following > seconds:
            bound_by = "reading records"
        busy = cpu_seconds / (1 if name in SINGLE else ranks)
        stages.append(Stage(name, (seconds + following) / 3600, busy / 3600, bound_by))
    return stages


def _slowest_rank(rng: np.random.Generator, cpu_seconds: float, tasks: int, ranks: int, luck: float) -> float:
    """Seconds until the last rank has ended: equal tasks dealt in turn, each with its own luck (of mean 1)."""
    ranks = min(ranks, tasks)
    of_ranks = np.zeros(ranks)
    done = 0
    while done < tasks:
        count = min(ranks, tasks - done)
        of_ranks[:count] += rng.lognormal(-luck * luck / 2, luck, count)
        done += count
    return float(of_ranks.max()) * cpu_seconds / tasks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--costs", type=Path, help="costs measured before")
    parser.add_argument("--write", type=Path, help="where to keep the costs")
    parser.add_argument("--terabytes", type=float, nargs="+", default=[1, 100])
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 1000])
    parser.add_argument("--cores", type=int, default=64)
    parser.add_argument("--node-gbs", type=float, default=2.0, help="GB/s of a node's line to the shared files")
    parser.add_argument("--shared-gbs", type=float, default=100.0, help="GB/s that the shared files give in all")
    parser.add_argument("--random-reads", type=float, default=1e6, help="single documents read a second, in all")
    parser.add_argument("--records", type=float, default=5000, help="records that one process reads a second")
    parser.add_argument("--start-seconds", type=float, default=30, help="between two jobs")
    parser.add_argument("--luck", type=float, default=0.3, help="sigma of a task's time (lognormal)")
    parser.add_argument("--chunk-mb", type=float, nargs="+", default=[32, 512])
    asked = parser.parse_args()
    costs = Costs(**json.loads(asked.costs.read_text())) if asked.costs else measure_costs()
    if asked.write:
        asked.write.write_text(json.dumps(asdict(costs), indent=1) + "\n")
    print(f"{costs.docs_a_mb:,.0f} documents a MB; CPU seconds a GB of raw text, MB moved a MB:")
    for name in (*WIDE, *SINGLE):
        moved = costs.read_a_mb[name] + costs.written_a_mb[name]
        print(f"  {name:10} {1000 * costs.seconds_a_mb[name]:8.2f}  {moved:6.2f}")
    for terabytes in asked.terabytes:
        for nodes in asked.nodes:
            for chunk_mb in asked.chunk_mb:
                cluster = Cluster(
                    nodes, asked.cores, asked.node_gbs, asked.shared_gbs, asked.random_reads, asked.records,
                    asked.start_seconds, asked.luck,
                )  # fmt: skip
                _print(simulate(costs, cluster, terabytes, chunk_mb), terabytes, nodes, chunk_mb)


def _print(stages: Sequence[Stage], terabytes: float, nodes: int, chunk_mb: float) -> None:
    total = sum(stage.hours for stage in stages)
    busy = sum(stage.compute_hours for stage in stages if stage.name not in SINGLE)
    print(
        f"\n{terabytes:g} TB, {nodes:,} nodes, chunks of {chunk_mb:g} MB: {total:.2f} h, cores busy {busy / total:.0%}"
    )
    for stage in stages:
        print(f"  {stage.name:10} {stage.hours:9.3f} h  {stage.hours / total:4.0%}  bound by {stage.bound_by}")


if __name__ == "__main__":
    main()

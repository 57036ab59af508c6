"""What each stage takes: processor time, disk and memory for a gigabyte of text, and what that makes of more of it.

    python bench/stages.py [--corpora DIR] [--tokenizer FILE] [--cores 2 16 64]

The route with filters of four kinds, exact and MinHash deduplication and best_fit, over the corpora, in one process,
task after task. Processor time and not the clock's: it hardly depends on what else the machine does. The table at the
end multiplies; nothing there was run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import corpora
import gristmill as gm
import recipes
from gristmill.engine.local import Job
from gristmill.engine.record import Record

STAGES = ("sift", "judge", "dedup", "tokenize", "mix", "pack")
SIZES = {"10 GB": 1e10, "1 TB": 1e12, "10 TB": 1e13}


class Meter:
    """Watches a run; counts processor seconds and bytes written, by stage."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.written: Counter[str] = Counter()
        self.dropped_bytes = 0  # of what sift wrote
        self._since = time.process_time()

    def started(self, jobs: object, tasks_done: int) -> None:
        """What happens between steps belongs to the task that comes next."""

    def finished(self, job: Job, record: Record) -> None:
        """What has passed since the task before is this one's."""
        now = time.process_time()
        stage = job.step.name.split("/")[0].split(" ")[0]
        self.seconds[stage] += now - self._since
        self.written[stage] += sum(file.bytes for file in record.files)
        self.dropped_bytes += sum(file.bytes for file in record.files if file.path.startswith("dropped/"))
        self._since = now

    def ended(self) -> None:
        """Nothing to show."""

    def notice(self, text: str) -> None:
        """Printed at once."""
        print(text)


def recipe(files: list[Path], tokenizer: Path, output: Path, limit: int | None = None) -> dict[str, Any]:
    """What people run: every document is measured by all filters; the bounds are wide, so that most go on."""
    base = recipes.over(files, tokenizer, output)
    sources = [{**source, **({"limit": limit} if limit else {})} for source in base["sources"]]
    filters: list[Any] = [
        {"length": {"min_characters": 100}},
        {"language": {"keep": "any"}},
        {"gopher_repetition": {}},
        {"spam": {}},
    ]
    return {**base, "sources": sources, "filters": filters, "dedup": ["exact", "minhash"], "engine": {"workers": 0}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--cores", type=int, nargs="+", default=[2, 16, 64])
    options = parser.parse_args()
    files = corpora.files(options.corpora)
    with tempfile.TemporaryDirectory() as scratch:
        gm.run(recipe(files, options.tokenizer, Path(scratch) / "warm", limit=200))  # kernels and models are loaded
        meter = Meter()
        result = gm.run(recipe(files, options.tokenizer, Path(scratch) / "out"), meter)
    seconds, written = meter.seconds, meter.written
    sift = result.ledger.of("sift")
    tokens = sum(entry.entered for entry in result.ledger.of("pack"))
    text = sum(entry.details["read_bytes"] for entry in sift)
    documents, left = sum(entry.entered for entry in sift), sum(entry.left for entry in sift)
    print(f"{text / 1e6:.0f} MB of text, {documents:,} documents, {left / documents:.0%} kept, ", end="")
    print(f"{tokens / 1e6:.0f} M tokens packed")
    print(f"{'stage':10}{'processor s/GB':>16}{'MB/s a core':>14}{'written, GB/GB':>16}")
    for stage in STAGES:
        per_gb = seconds[stage] / text * 1e9
        print(f"{stage:10}{per_gb:16.2f}{1000 / per_gb:14.0f}{written[stage] / text:16.3f}")
    per_gb, disk = sum(seconds.values()) / text * 1e9, sum(written.values()) / text
    print(f"{'all':10}{per_gb:16.2f}{1000 / per_gb:14.0f}{disk:16.3f}")
    print(f"Of that, dropped documents, which `keep_dropped: false` saves: {meter.dropped_bytes / text:.3f}")
    print("\nExtrapolated, if all cores are busy and disks keep up:")
    print(
        f"{'text':8}{'core-hours':>12}"
        + "".join(f"{f'{cores} cores':>12}" for cores in options.cores)
        + f"{'disk':>10}"
    )
    for name, size in SIZES.items():
        hours = per_gb * size / 1e9 / 3600
        spans = "".join(f"{hours / cores:>10.2f} h" for cores in options.cores)
        print(f"{name:8}{hours:12.1f}{spans}{disk * size / 1e9:>7,.0f} GB")


if __name__ == "__main__":
    main()

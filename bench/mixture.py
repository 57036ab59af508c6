"""The claim: mixing 100 million documents takes bounded memory, and its time is stated.

    python bench/mixture.py [--documents 100M] [--sources 41] [--stages 3]

Synthetic document lengths (log-normal, 500 tokens at the median) in so many sources of unequal size, drawn in stages
with other weights in each. Prints seconds and the peak memory of the process; mapped pages of the scratch file, which
the system takes back when it needs them, are told apart.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gristmill.mixture.begun import Begun
from gristmill.mixture.lengths import collect_lengths
from gristmill.mixture.mix import mix
from gristmill.quantities import parse_count

SHARD_DOCS = 100_000
WINDOW_TOKENS = 1 << 24


def shards(docs: int, seed: int) -> Iterator[np.ndarray]:
    """Lengths of one source's documents, a shard at a time."""
    generator = np.random.default_rng(seed)
    for first in range(0, docs, SHARD_DOCS):
        yield generator.lognormal(np.log(500), 1.0, min(SHARD_DOCS, docs - first)).astype(np.uint32)


def memory_bytes(name: str) -> int:
    """A line of /proc/self/status: VmHWM is the peak, RssAnon what is not a file's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=parse_count, default=parse_count("100M"))
    parser.add_argument("--sources", type=int, default=41)
    parser.add_argument("--stages", type=int, default=3)
    options = parser.parse_args()
    sizes = np.random.default_rng(0).lognormal(0, 1, options.sources)
    docs = (sizes / sizes.sum() * options.documents).astype(np.int64)
    names = [f"source-{number}" for number in range(options.sources)]
    with tempfile.TemporaryDirectory() as scratch:
        begin = time.perf_counter()
        lengths = collect_lengths([shards(int(count), number) for number, count in enumerate(docs)], scratch)
        print(f"lengths of {docs.sum():,} documents: {time.perf_counter() - begin:.1f} s", flush=True)
        before = None
        tokens = int(lengths.source_tokens.sum() * 0.6 / options.stages)
        drawn_tokens, drawn_docs = np.zeros(options.sources, np.int64), np.zeros(options.sources, np.int64)
        for stage in range(options.stages):
            weights = np.random.default_rng(stage).dirichlet(sizes * 20).tolist()
            begin = time.perf_counter()
            plan = Path(scratch) / f"{stage}.arrow"
            books = mix(plan, names, weights, lengths, WINDOW_TOKENS, 1, tokens, begun=before)
            seconds = time.perf_counter() - begin
            drawn_tokens += [source.drawn_tokens for source in books.sources]
            drawn_docs += [source.drawn_docs for source in books.sources]
            before = Begun(books.positions, tuple(drawn_tokens.tolist()), tuple(drawn_docs.tolist()), False)
            worst = max(
                abs(source.achieved_share - source.target_tokens / books.target_tokens) for source in books.sources
            )
            print(
                f"stage {stage}: {books.drawn_docs:,} documents, {books.drawn_tokens:,} tokens in {seconds:.1f} s "
                f"({books.drawn_docs / seconds / 1e6:.1f} M documents/s), shares within {worst:.5%} of the targets; "
                f"own memory {memory_bytes('RssAnon') / 1e6:.0f} MB, peak with mapped pages "
                f"{memory_bytes('VmHWM') / 1e6:.0f} MB, plan {plan.stat().st_size / 1e6:.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()

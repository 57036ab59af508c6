"""MinHash from raw text to filtered output against datatrove's four steps, and signatures alone against rensa's.

    python bench/dedup.py [--corpora DIR] [--megabytes 50 300] [--runs 3] [--workers 2]

Same documents, same machine, one after the other; start-up counted for both, each writes Parquet. The texts are real
paragraphs in new orders, so that there are enough of them: of 50 MB our start-up is a third, of 300 MB little.
datatrove takes about a second for a megabyte, so it runs once. Needs `pip install -e '.[bench]'`; rensa (`pip install
rensa`) is measured where it is there, and named where not. text-dedup is not: `pip install text-dedup` brings Spark
(pyspark, 456 MB), for an environment of its own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa

import corpora
import recombined
from measure import Measured, best, measure

HERE = Path(__file__).parent
HASHES, NGRAM = 112, 5
SIGNED_BYTES = 25_000_000
MINHASH = [{"minhash": {"ngram": NGRAM, "buckets": 14, "hashes_per_bucket": 8}}]


def ours(paths: list[Path], output: Path, workers: int, memory: str = "4GB") -> Measured:
    """Gristmill: sift, minhash, filtered output."""
    shutil.rmtree(output, ignore_errors=True)
    script = HERE / "peers" / "gristmill_dedup.py"
    return measure(
        [sys.executable, str(script), str(output), str(workers), memory, json.dumps(MINHASH), *map(str, paths)]
    )


def theirs(folder: Path, output: Path, workers: int) -> Measured:
    """datatrove."""
    shutil.rmtree(output, ignore_errors=True)
    return measure(
        [sys.executable, str(HERE / "peers" / "datatrove_minhash.py"), str(output), str(workers), str(folder)]
    )


def rate(documents: list[str], work: Callable[[], object], runs: int) -> float:
    """Megabytes a second of processor time, the best of several runs."""
    size_bytes = sum(len(text.encode()) for text in documents)
    seconds = []
    for _ in range(runs):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return size_bytes / 1e6 / min(seconds)


def signatures(documents: list[str], runs: int) -> None:
    """Signatures alone, one core."""
    from gristmill.dedup.minhash import MinHash

    unit = MinHash()
    batches = [pa.array(documents[start : start + 1000], pa.large_string()) for start in range(0, len(documents), 1000)]
    unit.sketch(batches[0])
    print(
        f"signatures, ours: {rate(documents, lambda: [unit.sketch(batch) for batch in batches], runs):.1f} MB/s a core"
    )
    if find_spec("rensa") is None:
        print("signatures, rensa: not installed (pip install rensa)")
        return
    rensa = importlib.import_module("rensa")

    def ngrams(text: str) -> list[str]:
        words = text.split()
        return [" ".join(words[at : at + NGRAM]) for at in range(len(words) - NGRAM + 1)]

    def sign(some: list[list[str]]) -> None:
        for items in some:
            signature = rensa.RMinHash(num_perm=HASHES, seed=1)
            signature.update(items)
            signature.digest()

    made = [ngrams(text) for text in documents]
    whole_rate = rate(documents, lambda: sign([ngrams(text) for text in documents]), runs)
    print(f"signatures, rensa RMinHash: {whole_rate:.1f} MB/s a core")
    print(f"  of which the n-grams were made before: {rate(documents, lambda: sign(made), runs):.1f} MB/s a core")


def end_to_end(paths: list[Path], documents: int, size_bytes: int, folder: Path, arguments: argparse.Namespace) -> None:
    """Both from raw text to what is left."""
    megabytes = size_bytes / 1e6
    print(
        f"{documents:,} documents, {megabytes:.0f} MB, {arguments.workers} workers each, start-up counted", flush=True
    )
    ours(paths, folder / "warm_up", arguments.workers)  # kernels are compiled once a machine
    mine = best([ours(paths, folder / "ours", arguments.workers) for _ in range(arguments.runs)])
    peer = theirs(folder / "input", folder / "theirs", arguments.workers)
    for who, run in (("ours", mine), ("datatrove", peer)):
        rate, told = megabytes / run.seconds, run.output.splitlines()[-1]
        print(f"  {who:10} {run.seconds:8.2f} s {rate:8.2f} MB/s {run.peak_bytes / 1e6:6.0f} MB  {told}")
    print(f"  {peer.seconds / mine.seconds:.0f} times as fast", flush=True)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[50, 300])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    texts = corpora.files(arguments.corpora)
    signatures(list(recombined.documents(texts, SIGNED_BYTES)), arguments.runs)
    for megabytes in arguments.megabytes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            some = recombined.documents(texts, megabytes * 1_000_000)
            end_to_end(*recombined.write_files(some, folder / "input", 2 * arguments.workers), folder, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())

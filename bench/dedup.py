"""MinHash from raw text to filtered output against datatrove's four steps, and signatures alone against rensa's.

    python bench/dedup.py [--corpora DIR] [--megabytes 25] [--runs 1] [--workers 2]

Same documents, same machine, one after the other; start-up counted for both, each writes Parquet. datatrove takes about
a minute for 50 MB, so it runs once. Needs `pip install -e '.[bench]'`; rensa (`pip install rensa`) is measured where it
is there, and named where not. text-dedup is not measured yet.
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
from measure import Measured, best, measure

HERE = Path(__file__).parent
HASHES, NGRAM = 112, 5
MINHASH = [{"minhash": {"ngram": NGRAM, "buckets": 14, "hashes_per_bucket": 8}}]


def sample(folder: Path, most_bytes: int) -> list[str]:
    """Documents of all corpora in turn, every tenth a near copy of one of another, up to so many bytes."""
    readers = [corpora.texts(path) for path in corpora.files(folder)]
    found: list[str] = []
    size_bytes = 0
    while readers and size_bytes < most_bytes:
        for reader in list(readers):
            text = next(reader, None)
            if text is None:
                readers.remove(reader)
                continue
            if len(found) % 10 == 9:
                text = found[-9] + " And one sentence more."
            found.append(text)
            size_bytes += len(text.encode())
    return found


def write_files(documents: list[str], folder: Path, files: int) -> list[Path]:
    """The documents as JSONL, dealt out to some files, so that datatrove's tasks can share them."""
    folder.mkdir()
    paths = [folder / f"{number:02}.jsonl" for number in range(files)]
    for number, path in enumerate(paths):
        with open(path, "w", encoding="utf-8") as out:
            for at in range(number, len(documents), files):
                out.write(json.dumps({"id": str(at), "text": documents[at]}, ensure_ascii=False) + "\n")
    return paths


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


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--megabytes", type=float, default=25)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    documents = sample(arguments.corpora, int(arguments.megabytes * 1e6))
    megabytes = sum(len(text.encode()) for text in documents) / 1e6
    print(f"{len(documents):,} documents, {megabytes:.1f} MB")
    signatures(documents, arguments.runs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_files(documents, folder / "input", 2 * arguments.workers)
        ours(paths, folder / "warm_up", arguments.workers)  # kernels are compiled once a machine
        mine = best([ours(paths, folder / "ours", arguments.workers) for _ in range(arguments.runs)])
        print(f"end to end, ours: {mine.seconds:.2f} s, {megabytes / mine.seconds:.1f} MB/s, "
              f"{mine.peak_bytes / 1e6:.0f} MB")  # fmt: skip
        peer = theirs(folder / "input", folder / "theirs", arguments.workers)
        print(f"end to end, datatrove: {peer.seconds:.2f} s, {megabytes / peer.seconds:.2f} MB/s, "
              f"{peer.peak_bytes / 1e6:.0f} MB")  # fmt: skip
        print(f"{peer.seconds / mine.seconds:.0f} times as fast, {arguments.workers} workers each, start-up counted")
    return 0


if __name__ == "__main__":
    sys.exit(main())

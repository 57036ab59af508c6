"""Time a document and peak memory of deduplication as the corpus grows: short documents made of real sentences.

    python bench/dedup_scale.py [--corpora DIR] [--documents 100000 1000000 10000000] [--kinds exact minhash]
                                [--memory 2GB] [--workers 2]

A document is three or four sentences drawn at random, about 300 bytes; every tenth is an earlier one, half of those
with a word more. What a run of 1,000 takes is called start-up and is not counted a document. Ten million take 3 GB of
input and about as much of scratch space below --folder.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import corpora
from measure import Measured, best, measure

HERE = Path(__file__).parent
KINDS = {"exact": ["exact"], "minhash": ["minhash"]}
DOCUMENTS_A_FILE = 1_000_000
START_DOCUMENTS = 1_000  # what a run of so few takes is called start-up, and is not counted a document
_SENTENCE = re.compile(r"[A-Z][^.!?\n]{40,140}[.!?]")


def sentences(folder: Path) -> list[str]:
    """Different sentences of English corpora, as they stand in JSON strings."""
    found: dict[str, None] = {}
    for name in ("english-docs.jsonl.gz", "books-en.jsonl.zst", "english-prose.parquet"):
        for text in corpora.texts(folder / name):
            found.update(dict.fromkeys(_SENTENCE.findall(text)))
    return [json.dumps(sentence)[1:-1] for sentence in found]


def documents(count: int, known: list[str]) -> Iterator[str]:
    """Always the same ones; the first of many are the few."""
    rng = random.Random(1)
    recent: list[str] = []
    for number in range(count):
        if number % 10 == 9:
            text = rng.choice(recent)
            yield text if number % 20 == 9 else text + " Indeed."
            continue
        text = " ".join(rng.choices(known, k=rng.randint(3, 4)))
        if len(recent) < 1000:
            recent.append(text)
        else:
            recent[rng.randrange(1000)] = text
        yield text


def write_files(folder: Path, count: int, known: list[str]) -> list[Path]:
    """The documents as JSONL."""
    folder.mkdir(parents=True)
    paths: list[Path] = []
    out = None
    for number, text in enumerate(documents(count, known)):
        if number % DOCUMENTS_A_FILE == 0:
            if out is not None:
                out.close()
            paths.append(folder / f"{len(paths):03}.jsonl")
            out = open(paths[-1], "w", encoding="utf-8")  # noqa: SIM115  closed above or below
        assert out is not None
        out.write(f'{{"text": "{text}"}}\n')
    if out is not None:
        out.close()
    return paths


def measured(kind: str, paths: list[Path], output: Path, arguments: argparse.Namespace) -> Measured:
    """From raw text to what is left."""
    parts = [
        HERE / "peers" / "gristmill_dedup.py",
        output,
        arguments.workers,
        arguments.memory,
        json.dumps(KINDS[kind]),
    ]
    run = measure([sys.executable, *map(str, [*parts, *paths])])
    shutil.rmtree(output)
    return run


def main() -> int:
    """Print a row a kind and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--documents", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    arguments = parser.parse_args()
    known = sentences(arguments.corpora)
    print(f"{len(known):,} sentences; {arguments.workers} workers, memory {arguments.memory}")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        starts: dict[str, Measured] = {}
        for count in (START_DOCUMENTS, *arguments.documents):
            paths = write_files(folder / "input", count, known)
            size_bytes = sum(path.stat().st_size for path in paths)
            for kind in arguments.kinds:
                run = measured(kind, paths, folder / "output", arguments)
                if kind not in starts:  # the first run may have compiled kernels
                    run = starts[kind] = best([run, measured(kind, paths, folder / "output", arguments)])
                start = starts[kind]
                wall = (run.seconds - start.seconds) / count * 1e6
                busy = (run.processor_seconds - start.processor_seconds) / count * 1e6
                print(f"{kind:8} {count:12,} documents, {size_bytes / 1e6:7,.0f} MB: {run.seconds:8.2f} s, "
                      f"{run.peak_bytes / 1e9:.2f} GB; beyond start-up {wall:6.2f} us a document, "
                      f"{busy:6.2f} of processor time", flush=True)  # fmt: skip
            shutil.rmtree(folder / "input")
    return 0


if __name__ == "__main__":
    sys.exit(main())

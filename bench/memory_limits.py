"""The claim: a run's peak memory holds `engine.memory`, whatever the lengths of documents.

    python bench/memory_limits.py [--corpora DIR] [--tokenizer FILE] [--megabytes 100] [--limits 512MB 1GB 4GB]
                                  [--kinds lines pages books] [--workers 2]

Three corpora are cut out of the same real text: lines of about 100 bytes, pages of about 3 kB, and books of about 1 MB
with three of 50 MB among them. Each goes the whole route (language and Gopher filters, exact and MinHash
deduplication, tokenization, best fit) under each limit. Memory is that of the process tree, as PSS: pages that
processes share are counted once, and pages of mapped files count while they are mapped. Each source has the
`max_document` that a run proposes for its limit where the default would not fit (docs/evidence.md); how many documents
are longer, and so counted as `skipped.too_long`, is printed. --default leaves it at its default. Ends with exit code 1
where a peak is more than a tenth above its limit.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import corpora
from gristmill.engine.ledger import Ledger
from gristmill.engine.pool import longest_that_fits
from gristmill.quantities import parse_bytes
from gristmill.sources.piece import MOST_DOCUMENT_BYTES
from measure import measure

KINDS = {"lines": 100, "pages": 3_000, "books": 1_000_000}
LONGEST_BOOK_CHARACTERS = 50_000_000
LONGEST_BOOKS = 3
LIMITS = ("512MB", "1GB", "4GB")
TOLERANCE = 1.1
# Everything is measured and little dropped: a long document repeats itself, a short line has no stop words.
REPETITION = {
    **dict.fromkeys(("dup_line_frac", "dup_para_frac", "dup_line_char_frac", "dup_para_char_frac"), 1),
    "top_n_grams": [[length, 1] for length in (2, 3, 4)],
    "dup_n_grams": [[length, 1] for length in range(5, 11)],
}
FILTERS = [
    {"language": {"keep": "any", "threshold": 0}},
    {"gopher_repetition": REPETITION},
    {"gopher_quality": {"min_words": 3, "max_words": 100_000_000, "min_stop_words": 0}},
]


def documents(folder: Path, characters: int) -> Iterator[str]:
    """The text of all corpora, cut where a document has that many characters, half as many or twice as many."""
    held, held_characters, number = [], 0, 0
    for path in corpora.files(folder):
        for text in corpora.texts(path):
            start = 0
            while start < len(text):
                wanted = characters * (2, 1, 4)[number % 3] // 2
                part = text[start : start + wanted - held_characters]
                start += len(part)
                held.append(part)
                held_characters += len(part)
                if held_characters >= wanted:
                    yield " ".join(held)
                    held, held_characters, number = [], 0, number + 1


def write_corpus(path: Path, folder: Path, kind: str, most_bytes: int) -> tuple[int, int]:
    """JSON lines of that kind, round after round until there are enough bytes, and of books the longest ones besides;
    returns documents and bytes."""
    count = written = turn = 0
    with open(path, "w", encoding="utf-8") as out:

        def write(text: str) -> None:
            nonlocal count, written
            fresh = text if turn == 0 else text.replace(" the ", f" the{turn} ")
            line = json.dumps({"text": fresh}, ensure_ascii=False)
            out.write(line + "\n")
            count, written = count + 1, written + len(line.encode())

        if kind == "books":
            for _, text in zip(range(LONGEST_BOOKS), documents(folder, LONGEST_BOOK_CHARACTERS), strict=False):
                write(text[:LONGEST_BOOK_CHARACTERS])
        most_bytes += written
        while written < most_bytes:
            for text in documents(folder, KINDS[kind]):
                write(text)
                if written >= most_bytes:
                    break
            turn += 1
    return count, written


def recipe(
    corpus: Path, tokenizer: Path, output: Path, memory: str, workers: int, most_document_bytes: int
) -> dict[str, Any]:
    """The whole route, with units that people use."""
    return {
        "sources": [{"name": "corpus", "path": str(corpus), "max_document": most_document_bytes}],
        "filters": FILTERS,
        "dedup": ["exact", "minhash"],
        "tokenizer": {"path": str(tokenizer)},
        "mixture": {"seed": 1},
        "pack": {"strategy": "best_fit", "sequence_length": 2048},
        "output": {"path": str(output)},
        "engine": {"workers": workers, "memory": memory},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--limits", nargs="+", default=LIMITS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--default", action="store_true", help="Leave `max_document` alone.")
    options = parser.parse_args()
    exceeded = 0
    print(
        "corpus  documents   MB text    limit     peak  of limit  largest process   seconds  too long  verdict",
        flush=True,
    )
    for kind in options.kinds:
        with tempfile.TemporaryDirectory(prefix="memory-limits-") as scratch:
            corpus = Path(scratch) / "corpus.jsonl"
            count, written = write_corpus(corpus, options.corpora, kind, options.megabytes * 1_000_000)
            for limit in options.limits:
                recipe_file, output = Path(scratch) / f"{limit}.yaml", Path(scratch) / f"out-{limit}"
                limit_bytes = parse_bytes(limit)
                fitting = MOST_DOCUMENT_BYTES if options.default else longest_that_fits(limit_bytes)
                longest = min(MOST_DOCUMENT_BYTES, fitting)
                made = recipe(corpus, options.tokenizer, output, limit, options.workers, longest)
                recipe_file.write_text(json.dumps(made), encoding="utf-8")
                run = measure([sys.executable, "-m", "gristmill", "run", str(recipe_file), "--quiet"])
                gone = sum(entry.gone.get("skipped.too_long", 0) for entry in Ledger.read(output).of("sift"))
                share = run.peak_bytes / limit_bytes
                holds = share <= TOLERANCE
                exceeded += not holds
                print(
                    f"{kind:6} {count:10,} {written / 1e6:9,.0f} {limit:>8} {run.peak_bytes / 1e6:6,.0f} MB "
                    f"{share:8.0%} {run.peak_process_bytes / 1e6:13,.0f} MB {run.seconds:9.1f} {gone:9,}  "
                    f"{'holds' if holds else 'EXCEEDED'}",
                    flush=True,
                )
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())

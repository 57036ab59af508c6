"""The claim: no input is too big, too small or too many for the memory that a run was given.

    python bench/big_inputs.py [--kinds one-document one-file many-files] [--tokenizer FILE] [--memory 1GB]
                               [--workers 2] [--document-megabytes 1074] [--file-megabytes 5000] [--files 100000]

    one-document   a line of 1 GB among two thousand others: a counted verdict, and the others are kept
    one-file       a JSONL file of 5 GB, cut into chunks
    many-files     100,000 text files with blanks and newlines in their names, in folders of a thousand

Prints seconds, the peak memory of the process tree (PSS), and what became of the rows. Needs as much room on the disk
as the largest input three times over. Ends with exit code 1 where a peak is more than a tenth above --memory.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import corpora
from gristmill.engine.ledger import Ledger
from gristmill.quantities import parse_bytes
from measure import measure

SENTENCE = "the water turns the wheel and the wheel turns the stone "


def line(number: int, sentences: int) -> str:
    """A document that no other equals."""
    return json.dumps({"text": f"{number} {SENTENCE * sentences}"}) + "\n"


def one_document(folder: Path, size: int) -> None:
    """One of `size` bytes between others."""
    block = SENTENCE * 20_000
    with open(folder / "one.jsonl", "w", encoding="utf-8") as file:
        file.writelines(line(number, 20) for number in range(1000))
        file.write('{"text": "')
        for _ in range(-(-size // len(block))):
            file.write(block)
        file.write('"}\n')
        file.writelines(line(number, 20) for number in range(1000, 2000))


def one_file(folder: Path, size: int) -> None:
    """One of `size` bytes."""
    with open(folder / "file.jsonl", "w", encoding="utf-8") as file:
        number = 0
        while file.tell() < size:
            file.write("".join(line(number + each, 50) for each in range(1000)))
            number += 1000


def many_files(folder: Path, count: int) -> None:
    """So many, of half a kilobyte each."""
    for number in range(count):
        below = folder / f"folder {number // 1000:03}"
        if number % 1000 == 0:
            below.mkdir()
        (below / f"file\n{number}.txt").write_text(f"{number} {SENTENCE * 10}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sizes: dict[str, tuple[Callable[[Path, int], None], str]] = {
        "one-document": (one_document, "document_megabytes"),
        "one-file": (one_file, "file_megabytes"),
        "many-files": (many_files, "files"),
    }
    parser.add_argument("--kinds", nargs="+", choices=sizes, default=list(sizes))
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--document-megabytes", type=int, default=1074)
    parser.add_argument("--file-megabytes", type=int, default=5000)
    parser.add_argument("--files", type=int, default=100_000)
    options = parser.parse_args()
    exceeded = 0
    for kind in options.kinds:
        make, size_name = sizes[kind]
        size = getattr(options, size_name) * (1 if kind == "many-files" else 1_000_000)
        with tempfile.TemporaryDirectory(prefix="big-inputs-") as scratch:
            folder, output = Path(scratch) / "in", Path(scratch) / "out"
            folder.mkdir()
            make(folder, size)
            recipe = {
                "sources": [{"name": "big", "path": str(folder)}],
                "filters": [{"length": {"min_characters": 10}}],
                "dedup": ["exact"],
                "tokenizer": {"path": str(options.tokenizer)},
                "pack": {"sequence_length": 2048},
                "output": {"path": str(output)},
                "engine": {"workers": options.workers, "memory": options.memory},
            }
            recipe_file = Path(scratch) / "recipe.yaml"
            recipe_file.write_text(json.dumps(recipe), encoding="utf-8")
            run = measure([sys.executable, "-m", "gristmill", "run", str(recipe_file), "--quiet"])
            [sift] = Ledger.read(output).of("sift")
            share = run.peak_bytes / parse_bytes(options.memory)
            exceeded += share > 1.1
            print(
                f"{kind:13} {run.seconds:7.1f} s  {run.peak_bytes / 1e6:6,.0f} MB peak, {share:.0%} of "
                f"{options.memory}  {sift.entered:,} rows, {sift.left:,} kept, {sift.gone or 'none gone'}",
                flush=True,
            )
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())

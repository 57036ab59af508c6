"""The claim: our cleaners give datatrove's texts, character for character, and sooner.

    python bench/cleaners.py [--corpora DIR] [--bytes-per-file N]

Same documents, one process, kernels loaded before the clock starts (they take about as long as the first 50 MB). Ends
with exit code 1 where a text differs. datatrove's placeholders are made to begin anew in each document, as ours do.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from datatrove.pipeline.formatters import FTFYFormatter, PIIFormatter, SymbolLinesFormatter

import corpora
from gristmill.cleaning.ftfy import Ftfy
from gristmill.cleaning.pii import Pii
from gristmill.cleaning.symbol_lines import SymbolLines
from gristmill.cleaning.unicode import Unicode
from gristmill.sources import Columns, find, read, split


def main() -> int:
    arguments = _arguments()
    pairs: dict[str, tuple[Any, Callable[[str], str]]] = {
        "pii": (Pii(), _pii()),
        "symbol_lines": (SymbolLines(), SymbolLinesFormatter().format),
        "ftfy": (Ftfy(), FTFYFormatter().format),
    }
    for ours, _ in pairs.values():
        ours.clean(pa.array(["a@b.c 1.2.3.4", "---\nx", "é"], pa.large_string()))
    print("file                            cleaner            MB   changed  differ   theirs     ours MB/s")
    differing = 0
    for file in find(str(arguments.corpora)):
        if file.path.endswith(".warc.gz"):
            continue
        batches = _texts(file.path, arguments.bytes_per_file)
        size = sum(pc.sum(pc.binary_length(batch)).as_py() for batch in batches) / 1e6
        for name, (ours, theirs) in pairs.items():
            texts = [text for batch in batches for text in batch.to_pylist()]
            started = time.perf_counter()
            expected = [theirs(text) for text in texts]
            their_seconds = time.perf_counter() - started
            started = time.perf_counter()
            cleaned = [ours.clean(batch) for batch in batches]
            our_seconds = time.perf_counter() - started
            found = [text for batch in cleaned for text in batch.to_pylist()]
            changed = sum(text != after for text, after in zip(texts, expected, strict=True))
            different = sum(one != other for one, other in zip(expected, found, strict=True))
            differing += different
            print(f"{Path(file.path).name:32}{name:14}{size:7.1f}{changed:10,}{different:8,}"
                  f"{size / their_seconds:9.1f}{size / our_seconds:9.1f}")  # fmt: skip
    return 1 if differing else 0


def _pii() -> Callable[[str], str]:
    formatter = PIIFormatter()

    def format_one(text: str) -> str:
        formatter.emails_replacer._replace_i = formatter.ip_replacer._replace_i = 0
        return str(formatter.format(text))

    return format_one


def _texts(path: str, most_bytes: int) -> list[Any]:
    """The file's texts, valid UTF-8, in batches of 8 MB, until there are so many bytes of them."""
    batches = []
    for chunk in split(find(path), {}, 1 << 40):
        for batch in read(chunk, Columns()):
            batches.append(Unicode().clean(batch.filter(pc.is_null(batch["unreadable"]))["text"]))
            if sum(pc.sum(pc.binary_length(each)).as_py() for each in batches) >= most_bytes:
                return batches
    return batches


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--bytes-per-file", type=int, default=1 << 40)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""The claim: our ids are those of `tokenizers`, for every document, with every tokenizer; and how much faster.

Every document of the corpora is encoded twice, by `gristmill.tokens` and by `tokenizers`, each in a process of its
own and on one thread; the ids of each document are compared. Special tokens are on, as the tokenizer has them.

    python bench/token_parity.py [--corpora DIR] [--tokenizers PATH...] [--limit DOCUMENTS] [--every-character]

Without --tokenizers: gpt2, llama2 and llama3_2 of ../shared/tokenizers. --limit is by file. --every-character
compares all code points in several contexts instead of corpora. Ends with exit code 1 where an id differs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import xxhash

import corpora

ENGINES = ("gristmill", "tokenizers")
BATCH_DOCS = 500
# Where a character may stand: by letters, digits, marks, itself, spaces, line ends, an apostrophe.
CONTEXTS = "a{0}b A{0}B {0}A {0}a 1{0}2 {0} {0}{0}.{0}!\n{0}'s '{0} {0}\n\nA{0}a\u0301{0}\u0301 a\u0345{0}\u0334"

Texts = pa.LargeStringArray
Ids = list[np.ndarray]


@dataclass(frozen=True)
class Measured:
    """What one engine made of all documents."""

    digests: np.ndarray  # of each document's ids
    text_bytes: int
    tokens: int
    seconds: float  # encoding alone; reading and the engine's start are not counted
    peak_bytes: int  # of the whole process
    engine: str


def main() -> int:
    arguments = _arguments()
    paths = arguments.tokenizers or _shared_tokenizers()
    documents = None if arguments.every_character else arguments.corpora
    print(
        "tokenizer    documents     MB      tokens differ ours MB/s tokenizers MB/s ratio"
        " ours peak MB tokenizers peak MB"
    )
    differing_docs = 0
    for path in paths:
        ours, theirs = (_in_own_process(engine, path, documents, arguments.limit) for engine in ENGINES)
        differing = np.flatnonzero(ours.digests != theirs.digests)
        name = path.parent.name if path.name == "tokenizer.json" else path.stem
        ours_rate, their_rate = (side.text_bytes / 1e6 / side.seconds for side in (ours, theirs))
        print(
            f"{name:12} {len(ours.digests):9,} {ours.text_bytes / 1e6:6.0f} {ours.tokens:11,} {len(differing):6}"
            f" {ours_rate:9.1f} {their_rate:15.2f} {ours_rate / their_rate:5.0f}"
            f" {ours.peak_bytes / 1e6:12.0f} {theirs.peak_bytes / 1e6:18.0f}",
            flush=True,
        )
        if ours.engine != "gigatoken":
            print(f"  {name}: encoded by {ours.engine}")
        for number in differing[:5]:
            print(f"  document {number} differs: {_document(documents, arguments.limit, int(number))[:100]!r}")
        differing_docs += len(differing)
    return 1 if differing_docs else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizers", type=Path, nargs="+")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--every-character", action="store_true")
    return parser.parse_args()


def _shared_tokenizers() -> list[Path]:
    fetch = [str(corpora.SHARED / "tokenizers" / "get"), "llama2", "llama3_2"]
    fetched = subprocess.run(fetch, check=True, capture_output=True, text=True).stdout.split()
    return [corpora.SHARED / "tokenizers" / "gpt2.json", *map(Path, fetched)]


def _in_own_process(*arguments: object) -> Measured:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, arguments)


def _measure(engine: str, tokenizer: Path, folder: Path | None, limit: int | None) -> Measured:
    encode, name = (_our_encoder if engine == "gristmill" else _their_encoder)(tokenizer)
    digests: list[int] = []
    text_bytes = tokens = 0
    seconds = 0.0
    for texts in _batches(folder, limit):
        started = time.perf_counter()
        ids = encode(texts)
        seconds += time.perf_counter() - started
        for document in ids():
            tokens += len(document)
            digests.append(xxhash.xxh3_64_intdigest(document.astype(np.uint32).data))
        text_bytes += texts.nbytes - 8 * (len(texts) + 1)
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Measured(np.array(digests, np.uint64), text_bytes, tokens, seconds, peak_bytes, name())


# An encoder takes texts; what it returns gives, later and off the clock, each document's ids as an array.
Encode = Callable[[Texts], Callable[[], Ids]]


def _our_encoder(path: Path) -> tuple[Encode, Callable[[], str]]:
    from gristmill.tokens.encode import Encoder
    from gristmill.tokens.tokenizer import load

    encoder = Encoder(load(path, append_eos=False, special_tokens=True))

    def encode(texts: Texts) -> Callable[[], Ids]:
        tokens = encoder.encode(texts)
        return lambda: [tokens.document(number) for number in range(len(tokens))]

    return encode, lambda: encoder.engine


def _their_encoder(path: Path) -> tuple[Encode, Callable[[], str]]:
    import os

    from tokenizers import Tokenizer

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def encode(texts: Texts) -> Callable[[], Ids]:
        encodings = tokenizer.encode_batch_fast(texts.to_pylist(), add_special_tokens=True)
        return lambda: [np.array(encoding.ids, np.uint32) for encoding in encodings]

    return encode, lambda: "tokenizers"


def _batches(folder: Path | None, limit: int | None) -> Iterator[Texts]:
    documents = _every_character() if folder is None else _documents(folder, limit)
    while batch := list(islice(documents, BATCH_DOCS)):
        yield pa.array(batch, pa.large_string())


def _document(folder: Path | None, limit: int | None, number: int) -> str:
    batch = next(islice(_batches(folder, limit), number // BATCH_DOCS, None))
    return batch[number % BATCH_DOCS].as_py()


def _documents(folder: Path, limit: int | None) -> Iterator[str]:
    return chain.from_iterable(corpora.texts(file, limit) for file in corpora.files(folder))


def _every_character() -> Iterator[str]:
    return (CONTEXTS.format(chr(code)) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)


if __name__ == "__main__":
    sys.exit(main())

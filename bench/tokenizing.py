"""The claim: `gristmill tokenize` against the ways people tokenize, with the same ids.

    python bench/tokenizing.py [--corpora DIR] [--tokenizer FILE] [--workers 2] [--runs 3] [--copies 1] [--limit N]

The documents of the corpora as JSONL files of about the same size, the same for all, tokenized by

    one by one       a process pool, `tokenizers`, one document at a time, Parquet
    batches of 200   the same with `encode_batch`
    datatrove        JsonlReader and DocumentTokenizer, which writes .ds and no Parquet
    gristmill        Parquet, uncompressed like theirs

in turn, with the same number of processes, start-up counted; the best of several runs. The ids of all documents are
compared. --copies repeats the corpora, each document with a number in front so that none is a copy; --limit is by file.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import xxhash

import corpora
from gristmill.tokens.tokenizer import load
from measure import Measured, best, measure

HERE = Path(__file__).parent
FILES = 8


def write_input(options: argparse.Namespace, folder: Path) -> tuple[list[Path], int, int]:
    """The documents, spread over FILES files; returns the files, documents and bytes of text."""
    folder.mkdir()
    paths = [folder / f"{number:05}.jsonl" for number in range(FILES)]
    documents = text_bytes = 0
    with ExitStack() as stack:
        outs = [stack.enter_context(open(path, "w", encoding="utf-8")) for path in paths]
        for copy in range(options.copies):
            for file in corpora.files(options.corpora):
                for text in filter(None, corpora.texts(file, options.limit)):
                    numbered = f"{copy} {text}" if copy else text
                    outs[documents % FILES].write(json.dumps({"text": numbered}, ensure_ascii=False) + "\n")
                    documents += 1
                    text_bytes += len(numbered.encode())
    return paths, documents, text_bytes


def eos_of(tokenizer: Path) -> str:
    """The end-of-sequence token that Gristmill finds; the peers are told."""
    return load(tokenizer, append_eos=True, special_tokens=False).eos_token or ""


def scripted(batch_documents: int) -> Callable[..., Measured]:
    """A way people script it."""

    def run(files: list[Path], tokenizer: Path, output: Path, workers: int) -> Measured:
        script = HERE / "peers" / "tokenizers_parquet.py"
        return measure([sys.executable, str(script), str(tokenizer), eos_of(tokenizer), str(output), str(workers),
                        str(batch_documents),
                        *map(str, files)])  # fmt: skip

    return run


def datatrove(files: list[Path], tokenizer: Path, output: Path, workers: int) -> Measured:
    """datatrove's way."""
    script = HERE / "peers" / "datatrove_tokenizer.py"
    return measure(
        [
            sys.executable,
            str(script),
            str(tokenizer),
            eos_of(tokenizer),
            str(output),
            str(workers),
            str(files[0].parent),
        ]
    )


def ours(files: list[Path], tokenizer: Path, output: Path, workers: int) -> Measured:
    """Gristmill, as a user runs it."""
    command = ["tokenize", "--input-dir", str(files[0].parent), "--output-dir", str(output)]
    command += ["--tokenizer", str(tokenizer), "--num-workers", str(workers)]
    return measure([sys.executable, "-m", "gristmill", *command])


WAYS: dict[str, Callable[..., Measured]] = {
    "one by one": scripted(1),
    "batches of 200": scripted(200),
    "datatrove": datatrove,
    "gristmill": ours,
}


def documents_in(output: Path) -> Iterator[np.ndarray]:
    """The ids of every document that a way wrote."""
    for path in sorted(output.glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(1000, columns=["input_ids"]):
            yield from (row.values.to_numpy() for row in batch.column(0))
    for path in sorted(output.glob("*.ds")):
        size = int(Path(f"{path}.metadata").read_text().split("\n")[0].rpartition("|")[2])
        ends = np.fromfile(f"{path}.index", np.uint64).astype(np.int64)
        yield from np.split(np.fromfile(path, f"<u{size}"), ends[:-1])


def fingerprints(output: Path) -> tuple[np.ndarray, int]:
    """A number for each document, sorted, as each way has its own order; and the tokens of all."""
    digests, tokens = [], 0
    for ids in documents_in(output):
        digests.append(xxhash.xxh3_64_intdigest(ids.astype(np.uint32).data))
        tokens += len(ids)
    return np.sort(np.array(digests, np.uint64)), tokens


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files, documents, text_bytes = write_input(options, folder / "input")
        print(f"{documents:,} documents, {text_bytes / 1e6:.1f} MB of text, {options.workers} workers, "
              f"{options.tokenizer.name}")  # fmt: skip
        print(f"{'':16}{'s':>8}{'docs/s':>10}{'tokens/s':>12}{'MB/s':>8}{'MB peak':>9}{'MB worker':>10}  ids")
        found: dict[str, tuple[Measured, np.ndarray]] = {}
        for name, way in WAYS.items():
            runs = []
            for _ in range(options.runs):
                shutil.rmtree(folder / "out", ignore_errors=True)
                runs.append(way(files, options.tokenizer, folder / "out", options.workers))
            ids, tokens = fingerprints(folder / "out")
            found[name] = best(runs), ids
            same = "equal" if np.array_equal(ids, found["one by one"][1]) else "DIFFERENT"
            seconds = found[name][0].seconds
            print(f"{name:16}{seconds:8.2f}{documents / seconds:10,.0f}{tokens / seconds:12,.0f}"
                  f"{text_bytes / 1e6 / seconds:8.1f}{found[name][0].peak_bytes / 1e6:9.0f}"
                  f"{found[name][0].peak_process_bytes / 1e6:10.0f}  {same}", flush=True)  # fmt: skip
    us, our_ids = found["gristmill"]
    for name, (peer, _) in found.items():
        if name != "gristmill":
            print(f"{peer.seconds / us.seconds:.1f} times {name}")
    return 0 if all(np.array_equal(ids, our_ids) for _, ids in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

"""The claim: `gristmill preprocess` is 20 times as fast as krill's own steps, and takes less than half the memory.

    python bench/preprocess.py [--documents 10000 100000 1000000] [--runs 1] [--workers 2] [--least N]
    python bench/preprocess.py --ours-only 10000000 --memory 2GB

Documents of about 1 kB are put together from sentences of the corpora; two of a hundred are copies of earlier ones. Of
each number of documents the same files go, one after the other, through `gristmill preprocess` (cleaning, exact
deduplication, tokenizing, packing, a Hugging Face dataset), through krill's steps (datasets.map, transformers, TRL,
bench/peers/krill_steps.py), and through datatrove's (clean, filter, exact deduplication, tokens;
bench/peers/datatrove_route.py, which packs nothing). Rows have to be those of krill's steps, id by id. Everything is
timed, from the start of the process; memory is the peak of the process tree (PSS), CPU the share of all cores used.

--ours-only: so many documents through ours alone, within --memory. Ends with exit code 1 where rows differ, where a
ratio is below --least, or where ours takes more than it may.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

import corpora
from gristmill.quantities import parse_bytes
from measure import Measured, best, measure

HERE = Path(__file__).parent
ENGLISH = ("english-prose.parquet", "english-docs.jsonl.gz", "books-en.jsonl.zst")
DOCUMENT_CHARACTERS = 1_000
COPIES = 0.02
FILES = 8
SEQUENCE_LENGTH, MIN_LENGTH = 2048, 150
CORES = os.cpu_count() or 1


def main() -> int:
    options = _options()
    sentences = _sentences(options.corpora)
    right = True
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        folder = Path(scratch)
        if options.ours_only:
            size = write_input(folder / "raw", sentences, options.ours_only)
            run = _best(options, _ours(options, folder), folder)
            _print("gristmill", options.ours_only, size, run, None)
            return 0 if run.peak_bytes <= parse_bytes(options.memory) else 1
        for documents in options.documents:
            size = write_input(folder / "raw", sentences, documents)
            ours = _best(options, _ours(options, folder), folder)
            digest = _rows(folder / "out")
            _print("gristmill", documents, size, ours, None)
            krill = _best(options, _krill(options, folder), folder)
            _print("krill's steps", documents, size, krill, ours)
            if _rows(folder / "out") != digest:
                print("  DIFFERENT rows")
                right = False
            datatrove = _best(options, _datatrove(options, folder), folder)
            _print("datatrove's", documents, size, datatrove, ours)
            slowest = min(peer.seconds for peer in (krill, datatrove)) / ours.seconds
            right &= slowest >= options.least
            shutil.rmtree(folder / "raw")
    return 0 if right else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--ours-only", type=int)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--least", type=float, default=0)
    return parser.parse_args()


def _sentences(folder: Path) -> list[str]:
    """Real ones, of 40 to 300 characters."""
    found: dict[str, None] = {}
    for path in corpora.files(folder):
        if path.name in ENGLISH:
            for text in islice(corpora.texts(path), 1_500):
                for sentence in re.split(r"(?<=[.!?])\s+", text[:60_000]):
                    if 40 <= len(sentence) <= 300:
                        found[sentence.replace("\n", " ")] = None
    if not found:
        sys.exit(f"expected some of {', '.join(ENGLISH)}, found none: {folder}")
    return list(found)


def _documents(sentences: list[str], count: int) -> Iterator[str]:
    """Always the same ones."""
    rng = random.Random(7)
    recent: list[str] = []
    for number in range(count):
        if recent and rng.random() < COPIES:
            yield rng.choice(recent)
            continue
        parts: list[str] = []
        characters, wanted = 0, rng.randint(DOCUMENT_CHARACTERS // 10, 19 * DOCUMENT_CHARACTERS // 10)
        while characters < wanted:
            parts.append(rng.choice(sentences))
            characters += len(parts[-1]) + 1
        text = " ".join(parts)
        if number % 100 == 0:
            recent = [*recent[-99:], text]
        yield text


def write_input(folder: Path, sentences: list[str], documents: int) -> int:
    """The documents in FILES files; returns the bytes of text."""
    folder.mkdir()
    text_bytes = 0
    made = _documents(sentences, documents)
    for number in range(FILES):
        share = documents * (number + 1) // FILES - documents * number // FILES
        with open(folder / f"{number}.jsonl", "w", encoding="utf-8") as out:
            for text in islice(made, share):
                out.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
                text_bytes += len(text.encode())
    return text_bytes


def _files(folder: Path) -> list[Path]:
    return sorted((folder / "raw").iterdir())


def _ours(options: argparse.Namespace, folder: Path) -> list[object]:
    config = {
        "datasets": [{"path": str(path)} for path in _files(folder)],
        "tokenizer": {"hub_id": str(options.tokenizer)},
        "preprocess": {"prepared_path": str(folder / "out"), "sequence_len": SEQUENCE_LENGTH, "min_length": MIN_LENGTH},
        "train": {"hub_model_id": "a/b", "output_dir": "out"},
    }
    path = folder / "krill.yaml"
    path.write_text(json.dumps(config))  # JSON is YAML
    command = [sys.executable, "-m", "gristmill", "preprocess", path, "--workers", options.workers]
    return [*command, *(["--memory", options.memory] if options.ours_only else [])]


def _krill(options: argparse.Namespace, folder: Path) -> list[object]:
    script = HERE / "peers" / "krill_steps.py"
    sizes = [options.workers, SEQUENCE_LENGTH, MIN_LENGTH]
    return [sys.executable, script, options.tokenizer, folder / "out", *sizes, *_files(folder)]


def _datatrove(options: argparse.Namespace, folder: Path) -> list[object]:
    script = HERE / "peers" / "datatrove_route.py"
    return [sys.executable, script, options.tokenizer, folder / "out", options.workers, folder / "raw"]


def _best(options: argparse.Namespace, command: list[object], folder: Path) -> Measured:
    runs = []
    for _ in range(options.runs):
        for name in ("out", "out.gristmill", "out.cache"):
            shutil.rmtree(folder / name, ignore_errors=True)
        runs.append(measure([str(part) for part in command], HF_HUB_OFFLINE="1"))
    return best(runs)


def _rows(folder: Path) -> str:
    """A digest of all ids of a dataset, in their order."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("data-*.arrow")):
        with pa.memory_map(str(path)) as file:
            for batch in pa.ipc.open_stream(file):
                digest.update(batch.column("input_ids").flatten().cast(pa.int32()).to_numpy().tobytes())
    return digest.hexdigest()


def _print(name: str, documents: int, size: int, run: Measured, ours: Measured | None) -> None:
    against = ""
    if ours is not None:
        against = (
            f"   ours: {run.seconds / ours.seconds:5.1f} x the speed, {ours.peak_bytes / run.peak_bytes:.2f} of the "
            f"memory, 1/{run.processor_seconds / ours.processor_seconds:.0f} of the CPU"
        )
    print(
        f"{documents:>10,} documents {name:15}{run.seconds:9.2f} s {size / 1e6 / run.seconds:8.2f} MB/s "
        f"{run.peak_bytes / 1e6:7.0f} MB peak {run.processor_seconds:8.1f} s CPU "
        f"({run.processor_seconds / run.seconds / CORES:4.0%} of {CORES} cores){against}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())

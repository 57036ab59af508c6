"""The whole route against the one people write with datasets.map, transformers and TRL's pack_dataset.

    python bench/route.py [--corpora DIR] [--tokenizer FILE] [--runs 3] [--processes 2]

Same documents, same machine, one after the other, best of several runs; start-up counted for both. Needs
`pip install -e '.[bench]'`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import zstandard

from measure import Measured, best, measure

HERE = Path(__file__).parent
SHARED = HERE.parents[1] / "shared"
SEQUENCE_LENGTH = 2048


def texts(path: Path) -> Iterator[str]:
    """The texts of one corpus file."""
    if path.suffix == ".parquet":
        yield from pq.read_table(path, columns=["text"])["text"].to_pylist()
        return
    opener = {".gz": gzip.open, ".zst": zstandard.open}[path.suffix]
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def write_input(corpora: Path, folder: Path) -> tuple[list[Path], int]:
    """The corpora as plain JSONL, which both routes read; returns the files and the bytes of text."""
    files, text_bytes = [], 0
    for path in sorted(corpora.iterdir()):
        if not path.name.endswith((".jsonl.gz", ".jsonl.zst", ".parquet")):
            continue
        files.append(folder / f"{path.name.split('.')[0]}.jsonl")
        with open(files[-1], "w", encoding="utf-8") as out:
            for number, text in enumerate(texts(path)):
                out.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")
                text_bytes += len(text.encode())
    return files, text_bytes


def ours(files: list[Path], tokenizer: Path, output: Path, processes: int) -> Measured:
    """Gristmill, as a user runs it."""
    recipe = {
        "sources": [{"name": file.stem, "path": str(file)} for file in files],
        "filters": [{"length": {"min_characters": 100}}],
        "dedup": ["exact"],
        "tokenizer": {"path": str(tokenizer)},
        "pack": {"strategy": "best_fit", "sequence_length": SEQUENCE_LENGTH},
        "output": {"path": str(output)},
        "engine": {"workers": processes},
    }
    recipe_file = output.with_suffix(".yaml")
    recipe_file.write_text(json.dumps(recipe))  # JSON is YAML
    shutil.rmtree(output, ignore_errors=True)
    return measure([sys.executable, "-m", "gristmill", "run", str(recipe_file)])


def theirs(files: list[Path], tokenizer: Path, output: Path, processes: int) -> Measured:
    """The peer."""
    for folder in (output, Path(f"{output}.cache")):
        shutil.rmtree(folder, ignore_errors=True)
    script = HERE / "peers" / "datasets_route.py"
    command = [sys.executable, script, tokenizer, output, processes, SEQUENCE_LENGTH, *files]
    return measure([str(part) for part in command], HF_HUB_OFFLINE="1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=SHARED / "corpora")
    parser.add_argument("--tokenizer", type=Path, default=SHARED / "tokenizers" / "gpt2.json")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files, text_bytes = write_input(options.corpora, folder)
        print(f"{len(files)} files, {text_bytes / 1e6:.1f} MB of text, {options.processes} processes")
        measured: dict[str, Measured] = {}
        for name, route in {"gristmill": ours, "datasets + transformers + TRL": theirs}.items():
            runs = [route(files, options.tokenizer, folder / "out", options.processes) for _ in range(options.runs)]
            measured[name] = best(runs)
            speed = text_bytes / 1e6 / measured[name].seconds
            print(
                f"{name:30} {measured[name].seconds:8.2f} s {speed:8.2f} MB/s "
                f"{measured[name].peak_bytes / 1e6:8.0f} MB peak   (runs: "
                + ", ".join(f"{run.seconds:.2f}" for run in runs) + ")"
            )  # fmt: skip
        us, peer = measured.values()
        print(
            f"ratio: {peer.seconds / us.seconds:.1f} times the speed, "
            f"{us.peak_bytes / peer.peak_bytes:.2f} of the memory"
        )


if __name__ == "__main__":
    main()

"""The whole route against the one people write with datasets.map, transformers and TRL's pack_dataset.

    python bench/route.py [--corpora DIR] [--tokenizer FILE] [--runs 3] [--processes 2]

Same documents, same machine, one after the other, best of several runs; start-up counted for both. Needs
`pip install -e '.[bench]'`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import corpora
import recipes
from measure import Measured, best, measure

HERE = Path(__file__).parent


def write_input(source: Path, folder: Path) -> tuple[list[Path], int]:
    """The corpora as plain JSONL, which both routes read; returns the files and the bytes of text."""
    files, text_bytes = [], 0
    for path in corpora.files(source):
        files.append(folder / f"{path.name.split('.')[0]}.jsonl")
        with open(files[-1], "w", encoding="utf-8") as out:
            for number, text in enumerate(corpora.texts(path)):
                out.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")
                text_bytes += len(text.encode())
    return files, text_bytes


def ours(files: list[Path], tokenizer: Path, output: Path, processes: int) -> Measured:
    """Gristmill, as a user runs it."""
    recipe = {**recipes.over(files, tokenizer, output), "engine": {"workers": processes}}
    recipe_file = output.with_suffix(".yaml")
    recipe_file.write_text(json.dumps(recipe))  # JSON is YAML
    shutil.rmtree(output, ignore_errors=True)
    return measure([sys.executable, "-m", "gristmill", "run", str(recipe_file)])


def theirs(files: list[Path], tokenizer: Path, output: Path, processes: int) -> Measured:
    """The peer."""
    for folder in (output, Path(f"{output}.cache")):
        shutil.rmtree(folder, ignore_errors=True)
    script = HERE / "peers" / "datasets_route.py"
    command = [sys.executable, script, tokenizer, output, processes, recipes.SEQUENCE_LENGTH, *files]
    return measure([str(part) for part in command], HF_HUB_OFFLINE="1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
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

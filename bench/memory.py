"""The claim: peak memory does not grow with the corpus.

    python bench/memory.py [--corpora DIR] [--tokenizer FILE] [--times 10] [--workers 2]

Runs the route over the corpora once, and over a corpus of so many times the size (the same documents with numbers
woven in, so that none is a duplicate), and prints the peak of the process tree of each. Memory is counted as PSS: pages
that processes share are counted once, and pages of mapped files count while they are mapped.
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
from measure import measure


def write_corpus(source: Path, folder: Path, times: int) -> tuple[list[Path], int]:
    """Every document `times` times, each time another; returns the files and the bytes of text."""
    files, text_bytes = [], 0
    folder.mkdir()
    for path in corpora.files(source):
        files.append(folder / f"{path.name.split('.')[0]}.jsonl")
        with open(files[-1], "w", encoding="utf-8") as out:
            for text in corpora.texts(path):
                for copy in range(times):
                    fresh = text.replace(". ", f" {copy}. ") + f"\n{copy}"
                    out.write(json.dumps({"text": fresh}, ensure_ascii=False) + "\n")
                    text_bytes += len(fresh.encode())
    return files, text_bytes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    peaks = []
    for times in (1, options.times):
        with tempfile.TemporaryDirectory() as scratch:
            files, text_bytes = write_corpus(options.corpora, Path(scratch) / "corpus", times)
            output, recipe_file = Path(scratch) / "out", Path(scratch) / "recipe.yaml"
            recipe = {**recipes.over(files, options.tokenizer, output), "engine": {"workers": options.workers}}
            recipe_file.write_text(json.dumps(recipe))
            run = measure([sys.executable, "-m", "gristmill", "run", str(recipe_file), "--quiet"])
            shutil.rmtree(output)
        peaks.append(run.peak_bytes)
        print(
            f"{text_bytes / 1e6:8,.0f} MB of text: {run.seconds:7.1f} s, {text_bytes / 1e6 / run.seconds:6.1f} MB/s, "
            f"{run.peak_bytes / 1e6:6,.0f} MB peak",
            flush=True,
        )
    growth = peaks[1] / peaks[0] - 1
    print(f"{options.times} times the corpus: {growth:+.1%} of peak memory")
    return 0 if growth < 0.15 else 1


if __name__ == "__main__":
    sys.exit(main())

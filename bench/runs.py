"""Finished runs over the same documents of the demo corpus, one for each kind of pretokenized rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from gristmill.demo import write_corpus

STRATEGIES = {"packed": "best_fit", "padded": "padded"}
RECIPE = """
sources: [{{name: web, path: {root}/corpus/web-en*, id_column: id, max_unreadable_ratio: 0.05}}]
tokenizer: {{train: {{vocab_size: 8000, sample: 20MB}}}}
pack: {{strategy: {strategy}, sequence_length: {row_tokens}}}
output: {{path: {root}/{way}}}
"""


def make_runs(root: Path, documents: int, row_tokens: int) -> dict[str, Path]:
    """The output folders, by the name of the way that reads them."""
    write_corpus(root / "corpus", documents)
    for way, strategy in STRATEGIES.items():
        recipe = root / f"{way}.yaml"
        recipe.write_text(RECIPE.format(root=root, way=way, strategy=strategy, row_tokens=row_tokens))
        command = [sys.executable, "-m", "gristmill", "run", str(recipe)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {way: root / way for way in STRATEGIES}


def kept_texts(run: Path) -> list[str]:
    """The documents that a run kept, in their order."""
    files = sorted(run.glob("sift/*/[0-9][0-9][0-9][0-9][0-9].parquet"))
    return [text for file in files for text in pq.read_table(file, columns=["text"])["text"].to_pylist()]

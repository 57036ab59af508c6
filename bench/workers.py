"""The claim: the packed output is the same bytes for any number of workers, and the ledger balances.

    python bench/workers.py [--corpora DIR] [--tokenizer FILE] [--workers 1 2 3]

Runs the whole route over all corpora once for each number of workers and prints the SHA-256 of everything that is
packed. Ends with exit code 1 where they differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpora
import recipes
from disturbance import digests


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    seen = set()
    for workers in options.workers:
        with tempfile.TemporaryDirectory() as scratch:
            output, recipe_file = Path(scratch) / "out", Path(scratch) / "recipe.yaml"
            recipe = recipes.over(corpora.files(options.corpora), options.tokenizer, output)
            recipe_file.write_text(json.dumps({**recipe, "engine": {"workers": workers}}))
            started = time.perf_counter()
            subprocess.run([sys.executable, "-m", "gristmill", "run", str(recipe_file), "--quiet"], check=True)
            seconds = time.perf_counter() - started
            sums = {name: digest for name, digest in digests(output).items() if name != "recipe.yaml"}
            packed = {name: digest for name, digest in sums.items() if name.startswith("pack/")}
            sha = hashlib.sha256(json.dumps(packed, sort_keys=True).encode()).hexdigest()
            seen.add(json.dumps(sums, sort_keys=True))
            manifest = json.loads((output / "pack" / "manifest.json").read_text())
            ledger = json.loads((output / "ledger.json").read_text())
            print(
                f"{workers} workers: pack/ {sha[:16]}… of {len(packed)} files, {manifest['rows']:,} rows, "
                f"{manifest['tokens']:,} tokens, balanced: {ledger['balanced']}, {seconds:.1f} s",
                flush=True,
            )
    print("all files of all stages are the same bytes" if len(seen) == 1 else "DIFFERENT")
    return 0 if len(seen) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())

"""The claim: the report at the end of a run costs less than 5 % of its time and 3 % of its disk.

    python bench/report.py [--corpora DIR] [--tokenizer FILE] [--runs 3] [--workers 2]

Runs SmolLM3's filter stack, exact and MinHash deduplication, tokenization and packing over the corpora, and takes the
report's time, its processor time and its bytes as shares of the run's. There is no peer: datatrove writes counts in
JSON, which cost nothing and show nothing.
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
from route import write_input

HERE = Path(__file__).parent
FILTERS = [{"language": {"keep": "any"}}, "gopher_repetition", "gopher_quality", "spam"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="leave the last run's output folder here")
    options = parser.parse_args()
    shares: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files, text_bytes = write_input(options.corpora, folder)
        output, recipe_file = folder / "out", folder / "recipe.yaml"
        recipe = {**recipes.over(files, options.tokenizer, output), "filters": FILTERS, "dedup": ["exact", "minhash"]}
        recipe_file.write_text(json.dumps({**recipe, "engine": {"workers": options.workers}}))
        print(f"{len(files)} files, {text_bytes / 1e6:.1f} MB of text, {options.workers} workers")
        for _ in range(options.runs):
            shutil.rmtree(output, ignore_errors=True)
            run = measure([sys.executable, str(HERE / "peers" / "gristmill_report.py"), str(recipe_file)])
            found = json.loads(run.output.splitlines()[-1])
            of_time = found["report_seconds"] / found["run_seconds"]
            of_processor = found["report_processor_seconds"] / found["run_processor_seconds"]
            of_disk = found["report_bytes"] / found["run_bytes"]
            shares.append((of_time, of_processor, of_disk))
            print(
                f"run {found['run_seconds']:6.2f} s, {found['run_bytes'] / 1e6:6.1f} MB on disk; "
                f"report {found['report_seconds']:5.2f} s ({of_time:.2%}), processor time "
                f"{found['report_processor_seconds']:5.2f} s ({of_processor:.2%}), "
                f"{found['report_bytes'] / 1e6:5.2f} MB ({of_disk:.2%})",
                flush=True,
            )
        if options.keep:
            shutil.copytree(output, options.keep)
    best = [min(share) for share in zip(*shares, strict=True)]
    named = zip(best, ("time", "processor time", "disk"), strict=True)
    print(f"best of {len(shares)} runs: " + ", ".join(f"{share:.2%} of the {name}" for share, name in named))
    return 0 if best[0] < 0.05 and best[2] < 0.03 else 1


if __name__ == "__main__":
    sys.exit(main())

"""The claim: changing a weight runs mix and pack only, in under 5 seconds for a million documents; changing a
threshold reads no text.

    python bench/reweigh.py [--documents 1M] [--workers 2]

Writes short generated documents (about 100 bytes), runs the route, then runs it again with another weight and, after
that, with another threshold. Prints which stages ran and how long each run took, start-up included.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gristmill.quantities import parse_count

WORDS = [
    "the",
    "mill",
    "grinds",
    "grain",
    "into",
    "flour",
    "while",
    "water",
    "turns",
    "a",
    "wheel",
    "and",
    "somebody",
    "sweeps",
    "stone",
    "floors",
    "again",
]


def write_source(path: Path, documents: int, seed: int) -> None:
    """Documents of 10 to 25 words, each unlike the others."""
    rng = random.Random(seed)
    with open(path, "w") as file:
        for number in range(documents):
            text = f"{seed} {number} " + " ".join(rng.choices(WORDS, k=rng.randint(10, 25)))
            file.write(json.dumps({"text": text}) + "\n")


def run(recipe: dict[str, Any], folder: Path) -> tuple[float, list[str]]:
    """Seconds, and the stages of which a task ran."""
    recipe_file, log = folder / "recipe.yaml", folder / "log"
    recipe_file.write_text(json.dumps(recipe))
    (log / "events.jsonl").unlink(missing_ok=True)
    command = [sys.executable, "-m", "gristmill", "run", str(recipe_file), "--quiet", "--logging-dir", str(log)]
    begin = time.perf_counter()
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - begin
    events = [json.loads(line) for line in (log / "events.jsonl").read_text().splitlines()]
    steps = [event["step"] for event in events if event["event"] == "finished"]
    return seconds, list(dict.fromkeys(step.partition("/")[0] for step in steps))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=parse_count, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for seed, name in enumerate(("web", "wiki")):
            write_source(folder / f"{name}.jsonl", options.documents // 2, seed)
        recipe: dict[str, Any] = {
            "sources": [
                {"name": "web", "path": str(folder / "web.jsonl"), "weight": 0.7},
                {"name": "wiki", "path": str(folder / "wiki.jsonl"), "weight": 0.3},
            ],
            "filters": [{"length": {"min_words": 14}}],
            "dedup": ["exact"],
            "tokenizer": {"train": {"vocab_size": 1000, "sample": "1MB"}},
            "pack": {"sequence_length": 2048},
            "output": {"path": str(folder / "out")},
            "engine": {"workers": options.workers},
        }
        first, stages = run(recipe, folder)
        print(f"first run, {options.documents:,} documents: {first:.1f} s ({', '.join(stages)})", flush=True)
        recipe["sources"][0]["weight"] = 0.6
        reweighed, stages_reweighed = run(recipe, folder)
        print(f"another weight: {reweighed:.1f} s ({', '.join(stages_reweighed)})", flush=True)
        recipe["filters"] = [{"length": {"min_words": 16}}]
        rejudged, stages_rejudged = run(recipe, folder)
        print(f"another threshold: {rejudged:.1f} s ({', '.join(stages_rejudged)})")
    well = stages_reweighed == ["mix", "pack"] and "sift" not in stages_rejudged and reweighed < 5
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())

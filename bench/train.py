"""examples/train.py in its four ways, one after the other in one run: training tokens a second, waiting, waste.

    python bench/train.py [STEPS] [ROUNDS]      30 steps of 8 rows of 512 tokens, the best of 2 rounds

The model is small (5 M parameters) so that a CPU trains it; a bigger one only hides waiting better. Each way sees the
documents of one corpus in an order of its own; the ways on the fly tokenize in a worker process, ahead of the training.
Training tokens are those that something is learnt from: neither padding nor a document's first token.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from runs import make_runs

SCRIPT = Path(__file__).parents[1] / "examples" / "train.py"
ROW_TOKENS, DOCUMENTS = 512, 4000
WAYS = {"packed": "packed", "padded": "padded", "padding-free-on-the-fly": "packed", "padded-on-the-fly": "packed"}


def train(way: str, run: Path, steps: int) -> dict[str, float]:
    """One run of the script; what its last line says."""
    workers = "1" if way.endswith("on-the-fly") else "0"
    options = ["--data", way, "--steps", str(steps), "--workers", workers]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(run), *options], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    steps, rounds = (int(given) for given in (sys.argv[1:] + ["30", "2"][len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as temporary:
        runs = make_runs(Path(temporary), DOCUMENTS, ROW_TOKENS)
        found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way, rows in WAYS.items():
                found[way].append(train(way, runs[rows], steps))
    print(f"{'':26}{'training tokens/s':>18}{'waiting for data':>18}{'places ignored':>16}{'loss':>9}")
    for way, results in found.items():
        best = max(results, key=lambda one: one["tokens_per_second"])
        print(
            f"{way:26}{best['tokens_per_second']:18,.0f}{best['waiting_ratio']:18.3%}"
            f"{best['ignored_ratio']:16.2%}{best['loss']:9.4f}"
        )


if __name__ == "__main__":
    main()

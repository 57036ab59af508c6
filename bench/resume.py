"""kill -9 at random moments, the same command again each time: the same bytes as an undisturbed run?

    python bench/resume.py [--kills 20] [--seed 1] [--corpora DIR] [--tokenizer FILE]

The whole process group is killed, at a moment drawn evenly from the time an undisturbed run takes. A run that gets
through is compared and the output removed, so that all moments of the route are hit, not only its beginning.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpora
import recipes
from disturbance import differing, digests


def start(recipe: Path) -> subprocess.Popen[bytes]:
    """The command, in a process group of its own."""
    command = [sys.executable, "-m", "gristmill", "run", str(recipe), "--quiet"]
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)


def run_to_end(recipe: Path) -> float:
    """Seconds an undisturbed run takes. Raises where it fails."""
    started = time.perf_counter()
    if code := start(recipe).wait():
        raise SystemExit(f"the run failed with exit code {code}")
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "out"
        recipe = Path(scratch) / "recipe.yaml"
        plan = recipes.over(corpora.files(options.corpora), options.tokenizer, output)
        plan["output"]["chunk"] = "8MB"
        recipe.write_text(json.dumps(plan))
        run_to_end(recipe)
        expected = digests(output)
        shutil.rmtree(output)
        undisturbed_seconds = run_to_end(recipe)
        if other := differing(digests(output), expected):
            raise SystemExit(f"two undisturbed runs differ: {', '.join(other)}")
        shutil.rmtree(output)
        print(f"undisturbed: {undisturbed_seconds:.1f} s, {len(expected)} files", flush=True)
        kills = finished = different = 0
        while kills < options.kills or output.exists():
            process = start(recipe)
            moment = rng.uniform(0, undisturbed_seconds) if kills < options.kills else 600.0
            try:
                code = process.wait(moment)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
                stages = [name for name in ("sift", "dedup", "tokenize", "mix", "pack") if (output / name).exists()]
                print(f"kill {kills:2} after {moment:5.2f} s, at {stages[-1] if stages else 'the start'}", flush=True)
                continue
            found = digests(output)
            other = differing(found, expected)
            finished += 1
            different += bool(code or other)
            verdict = f"DIFFERENT: exit code {code}, {', '.join(other)}" if code or other else "the same bytes"
            print(f"   finished: {verdict}", flush=True)
            shutil.rmtree(output)
    print(f"{kills} kills, {finished} finished runs, {different} different")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()

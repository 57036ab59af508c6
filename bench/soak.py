"""Random recipes, random kills, random damage, for as long as you like: the same bytes as an undisturbed twin?

    python bench/soak.py [--minutes 30] [--seed N] [--case SEED] [--keep DIR]

A case is a recipe and what happens to its run, both drawn from the case's seed: the parent or workers are killed, files
are deleted, torn, blanked or get a flipped bit, at random moments and between runs, under another number of workers
each time. Then `gristmill run --check` has to end well at once, its output has to be the twin's, and `gristmill verify`
has to find nothing. A run that fails on the way has to say why in an error of ours. Moments depend on the machine, all
else is repeated by `--case SEED`. Ends with exit code 1 where anything differed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import corpora
import disturbance
from disturbance import DAMAGES, Run
from gristmill.demo import write_corpus

_SLICES = {
    "docs": "english-docs.jsonl.gz",
    "code": "code.jsonl.zst",
    "japanese": "ja.jsonl.zst",
    "mail": "mail-en.jsonl.zst",
}
_SLICE_BYTES = 300_000
_FILTERS: list[Any] = [
    {"length": {"min_characters": 60}},
    {"gopher_repetition": {}},
    {"gopher_quality": {"min_words": 10}},
    {"language": {"keep": ["en", "vi", "ja"], "threshold": 0.2}},
    {"spam": {}},
]
_DEDUP: list[Any] = [
    "exact",
    {"minhash": {}},
    {"minhash": {"confirm": 0.7}},
    {"bloom": {"capacity": "20k"}},
    {"sentences": {}},
    {"substrings": {"min_bytes": 100}},
]


def prepare(folder: Path) -> dict[str, Path]:
    """Small corpora by name: the demo's, and slices of real ones where there are any."""
    write_corpus(folder / "demo", 700)
    found = {file.name.split(".")[0]: file for file in sorted((folder / "demo").iterdir()) if "web" in file.name}
    found["encyclopedia"] = folder / "demo" / "encyclopedia.parquet"
    for name, file in _SLICES.items():
        if (corpora.CORPORA / file).is_file():
            found[name] = folder / f"{name}.jsonl"
            held = 0
            with open(found[name], "w", encoding="utf-8") as lines:
                for text in corpora.texts(corpora.CORPORA / file):
                    held += lines.write(json.dumps({"text": text[:20_000]}, ensure_ascii=False) + "\n")
                    if held > _SLICE_BYTES:
                        break
    return found


def random_recipe(rng: random.Random, texts: dict[str, Path]) -> dict[str, Any]:
    """A recipe without its output."""
    names = rng.sample(sorted(texts), rng.randint(1, min(3, len(texts))))
    staged, weighed = rng.random() < 0.25, rng.random() < 0.5
    sources = [
        {"name": name, "path": str(texts[name]), "max_unreadable_ratio": 0.1}
        | ({"weight": rng.choice([0.2, 0.5, 1.0])} if weighed and not staged else {})
        for name in names
    ]
    mixture: dict[str, Any] = {"seed": rng.randrange(1000), "epochs": rng.choice([0.5, 1, 2])}
    if staged:
        weights = [{name: rng.choice([0.3, 1.0]) for name in names} for _ in range(2)]
        mixture["stages"] = [
            {"name": f"stage{number}", "tokens": rng.choice([5_000, 20_000]), "weights": weight}
            for number, weight in enumerate(weights)
        ]
    trained: dict[str, Any] = {"train": {"vocab_size": rng.choice([300, 1000]), "sample": "1MB"}}
    given: dict[str, Any] = {"path": str(corpora.GPT2)}
    return {
        "sources": sources,
        "clean": rng.choice([["unicode", "strip"], ["unicode", "nfc", "strip"], ["unicode", "symbol_lines"]]),
        "filters": rng.sample(_FILTERS, rng.randint(0, 3)),
        "dedup": rng.sample(_DEDUP, rng.randint(0, 3)),
        "tokenizer": rng.choice([trained, given]) if corpora.GPT2.is_file() else trained,
        "mixture": mixture,
        "pack": {
            "strategy": rng.choice(["best_fit", "wrapped", "padded"]),
            "sequence_length": rng.choice([64, 256, 1000]),
            "window": rng.choice([3_000, 20_000, 1_000_000]),
        },
        "output": {"chunk": rng.choice(["20kB", "60kB", "200kB"]), "keep_dropped": rng.random() < 0.7},
    }


def random_engine(rng: random.Random) -> tuple[str, ...]:
    return ("--workers", str(rng.randint(0, 3)), "--memory", rng.choice(["700MB", "2GB", "4GB"]))


class Case:
    """One recipe, its twin, and what happens to it."""

    def __init__(self, seed: int, texts: dict[str, Path], folder: Path) -> None:
        self.rng = random.Random(seed)
        self.output, self.twin = folder / "out", folder / "twin"
        plan = random_recipe(self.rng, texts)
        self.recipe, self.twin_recipe = folder / "recipe.yaml", folder / "twin.yaml"
        for file, output in ((self.recipe, self.output), (self.twin_recipe, self.twin)):
            file.write_text(json.dumps({**plan, "output": {**plan["output"], "path": str(output)}}, indent=1))
        self.log: list[str] = []
        self.faults: Counter[str] = Counter()
        self.problems: list[str] = []

    def carry_out(self) -> None:
        """Twin, disturbances, the last run, the comparison."""
        code, said, seconds = Run(self.twin_recipe, random_engine(self.rng)).end()
        if code > 0 and disturbance.is_explained(said):
            self.faults["refused recipe"] += 1  # such as one whose filters leave nothing of a source
            self.log.append(said.strip().splitlines()[0][:160])
            return
        if code:
            self.problems.append(f"the twin failed with exit code {code}: {said[-1500:]}")
            return
        for _ in range(self.rng.randint(1, 4)):
            self._disturb(seconds)
        code, said, self.last_seconds = Run(self.recipe, (*random_engine(self.rng), "--check")).end()
        if code:
            self.problems.append(f"the last run failed with exit code {code}: {said[-1500:]}")
            return
        other = disturbance.different_files(self.output, self.twin)
        if other:
            self.problems.append(f"{len(other)} files differ: {', '.join(other[:6])}")
        verify = [sys.executable, "-m", "gristmill", "verify", str(self.output)]
        verified = subprocess.run(verify, capture_output=True, text=True, check=False)
        if verified.returncode:
            self.problems.append(f"verify: {verified.stdout[-800:]}{verified.stderr[-800:]}")

    def _disturb(self, seconds: float) -> None:
        rng, run = self.rng, Run(self.recipe, random_engine(self.rng))
        moment = rng.uniform(0.1, 1.0) * seconds
        what = rng.choice(["kill the parent", "kill all", "kill a worker", "flip", "delete", "tear"])
        choice = rng.random()
        if run.wait(moment) is None:
            if what == "kill the parent":
                run.kill_parent()
                time.sleep(0.2)
            elif what == "kill all":
                run.kill()
            elif what == "kill a worker":
                run.kill_worker(rng)
            else:
                self._damage(what, choice, while_running=True)
            self.faults[what if what.startswith("kill") else f"{what} (running)"] += 1
            self.log.append(f"{what} after {moment:.1f} s")
        killed = what in ("kill the parent", "kill all") and (run.process.returncode or 0) < 0
        code, said, _ = (0, "", 0.0) if killed else run.end(600)
        if code > 0 and not disturbance.is_explained(said):
            self.problems.append(f"exit code {code} without an error of ours: {said[-1500:]}")
        elif code > 0:
            self.log.append(said.strip().splitlines()[0][:160])
        for _ in range(rng.choice([0, 0, 1, 2])):
            kind = rng.choice(sorted(DAMAGES))
            self._damage(kind, rng.random(), while_running=False)
            self.faults[kind] += 1
        if rng.random() < 0.2 and self.output.exists():
            (self.output / "sift").mkdir(exist_ok=True)
            (self.output / "sift" / "00000.parquet.tmp-1").write_bytes(b"left behind")
            self.faults["leftover"] += 1

    def _damage(self, kind: str, choice: float, while_running: bool) -> None:
        found = disturbance.files_by_kind(self.output) if self.output.exists() else {}
        if while_running:  # a file that was just renamed has no checksum yet by which its damage could be known
            recorded = {file.with_name(file.name.split(".")[0] + ".json") for file in found.get("record", [])}
            found = {
                name: [file for file in files if file.with_name(file.name.split(".")[0] + ".json") in recorded]
                for name, files in found.items()
                if name != "record"
            }
        kinds = sorted(name for name, files in found.items() if files)
        if not kinds:
            return
        files = found[kinds[int(choice * len(kinds))]]
        file = files[self.rng.randrange(len(files))]
        try:
            how = DAMAGES[kind](file, self.rng)
        except OSError:
            return  # the run took it away in this moment
        self.log.append(f"{how}: {file.relative_to(self.output)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1, help="of the first case; each next one has the next")
    parser.add_argument("--case", type=int, help="only this case, as a failure named it")
    parser.add_argument("--keep", type=Path, help="where failing cases are kept")
    options = parser.parse_args()
    until = time.monotonic() + options.minutes * 60
    seed = options.seed if options.case is None else options.case
    totals: Counter[str] = Counter()
    failed: list[int] = []
    with tempfile.TemporaryDirectory(prefix="soak-") as scratch:
        texts = prepare(Path(scratch) / "corpora")
        while time.monotonic() < until:
            folder = Path(scratch) / f"case-{seed}"
            folder.mkdir()
            case = Case(seed, texts, folder)
            started = time.perf_counter()
            try:
                case.carry_out()
            except TimeoutError as error:
                case.problems.append(str(error))
            totals.update(case.faults)
            totals["cases"] += 1
            verdict = "DIFFERENT" if case.problems else "the same bytes"
            print(f"case {seed}: {verdict}, {time.perf_counter() - started:.0f} s; {'; '.join(case.log)}", flush=True)
            for problem in case.problems:
                print(f"  {problem}\n  repeat: python bench/soak.py --case {seed}", flush=True)
            if case.problems:
                failed.append(seed)
                if options.keep is not None:
                    shutil.copytree(folder, options.keep / folder.name, dirs_exist_ok=True)
            shutil.rmtree(folder)
            seed += 1
            if options.case is not None:
                break
    print(f"\n{totals.pop('cases')} cases, {totals.total()} faults, {len(failed)} cases different {failed or ''}")
    for name, count in sorted(totals.items()):
        print(f"  {name:24} {count:5}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

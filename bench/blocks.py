"""The claim: a datatrove pipeline with our blocks in it does the same, more than 20 times faster.

    python bench/blocks.py [--corpora DIR] [--pipelines filters sentences minhash tokens] [--megabytes 25]
                           [--more-megabytes 200] [--files 4] [--workers 2] [--runs 3] [--least N]

Each pipeline is run in a fresh process by datatrove's LocalPipelineExecutor: with datatrove's blocks, with ours between
datatrove's reader and writers (`blocks`), and with our reader and writers, too (`all`). Everything is timed: start-up,
reading, Documents, writing. The kept documents, the exclusions, the stats and the tokens have to be the same. Of small
inputs start-up is most of our time, so the last columns have `all` on --more-megabytes: its speed, and that speed
against datatrove's. CPU seconds are those of all processes. Ends with exit code 1 where anything differs, or where the
ratio of `all` on the larger input is below --least.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import corpora
from measure import Measured, best, measure

PIPELINES = ("filters", "sentences", "minhash", "tokens")
SIDES = {"theirs": ("theirs", "theirs"), "blocks": ("ours", "theirs"), "all": ("ours", "ours")}
HERE = Path(__file__).parent


def main() -> int:
    options = _options()
    right = True
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        folder = Path(scratch)
        few = write_input(options.corpora, folder / "few", options.megabytes, options.files)
        many = write_input(options.corpora, folder / "many", options.more_megabytes, options.files)
        print(
            f"{few / 1e6:.1f} MB and {many / 1e6:.1f} MB of text in {options.files} files, "
            f"{options.workers} workers, best of {options.runs}\n"
            f"{'pipeline':10}{'side':>8}{'seconds':>9}{'MB/s':>8}{'ratio':>7}{'CPU s':>8}{'CPU ratio':>11}"
            f"{'peak MB':>9}"
        )
        for pipeline in options.pipelines:
            theirs: Measured | None = None
            expected: dict[str, Any] = {}
            for side in SIDES:
                run = _best(options, pipeline, side, folder / "few", folder / side)
                theirs = theirs or run
                _print(pipeline, side, few, run, theirs, few)
                found = outcome(folder / side)
                expected = expected or found
                differ = sorted(
                    name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
                )
                if differ:
                    print(f"  DIFFERENT: {', '.join(differ[:5])}")
                    right = False
            assert theirs is not None
            large = _best(options, pipeline, "all", folder / "many", folder / "all")
            _print(pipeline, "all", many, large, theirs, few)
            right &= (many / large.seconds) / (few / theirs.seconds) >= options.least
    return 0 if right else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--pipelines", nargs="+", choices=PIPELINES, default=list(PIPELINES))
    parser.add_argument("--megabytes", type=float, default=25)
    parser.add_argument("--more-megabytes", type=float, default=200)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--least", type=float, default=0)
    return parser.parse_args()


def write_input(source: Path, folder: Path, megabytes: float, files: int) -> int:
    """The same share of each corpus as JSONL, document by document to each file in turn; again from the start where
    there is not enough, with a number before each text. Returns the bytes of text."""
    folder.mkdir()
    paths = corpora.files(source)
    share = megabytes * 1e6 / len(paths)
    text_bytes = count = 0
    with ExitStack() as stack:
        names = [folder / f"{number:02}.jsonl" for number in range(files)]
        outs = [stack.enter_context(open(name, "w", encoding="utf-8")) for name in names]
        for number, path in enumerate(paths):
            for turn in itertools.count():
                for text in corpora.texts(path):
                    if text_bytes >= share * (number + 1):
                        break
                    row = {"text": f"{turn} {text}" if turn else text, "id": str(count)}
                    outs[count % files].write(json.dumps(row, ensure_ascii=False) + "\n")
                    count += 1
                    text_bytes += len(row["text"].encode())
                if text_bytes >= share * (number + 1):
                    break
    return text_bytes


def outcome(folder: Path) -> dict[str, Any]:
    """What a run left: texts of kept and excluded documents, tokens, and stats without times."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.endswith("stats.json"):
            found[name] = [{**one, "time_stats": None, "stats": _totals(one)} for one in json.loads(path.read_text())]
        elif path.is_file() and name.split("/")[0] in ("kept", "gone", "tokens", "removed", "found"):
            content = path.read_bytes()
            content = gzip.decompress(content) if path.suffix == ".gz" else content
            found[name] = hash(re.sub(rb"/(few|many)/", b"/", content))
    return found


def _totals(stats: dict[str, Any]) -> dict[str, Any]:
    """Tasks are added up in the order in which they end, so means are not the same to the last digit."""
    return {name: of["total"] if isinstance(of, dict) else of for name, of in stats["stats"].items()}


def _best(options: argparse.Namespace, pipeline: str, side: str, source: Path, out: Path) -> Measured:
    runs = []
    for _ in range(options.runs):
        shutil.rmtree(out, ignore_errors=True)
        script = HERE / "peers" / "blocks_side.py"
        command = [sys.executable, script, pipeline, *SIDES[side], options.workers, options.tokenizer, source, out]
        runs.append(measure([str(part) for part in command], HF_HUB_OFFLINE="1"))
    return best(runs)


def _print(pipeline: str, side: str, size: int, run: Measured, theirs: Measured, their_size: int) -> None:
    speed, their_speed = size / 1e6 / run.seconds, their_size / 1e6 / theirs.seconds
    cpu_ratio = (theirs.processor_seconds / their_size) / (run.processor_seconds / size)
    print(
        f"{pipeline:10}{side:>8}{run.seconds:9.2f}{speed:8.2f}{speed / their_speed:7.1f}"
        f"{run.processor_seconds:8.1f}{cpu_ratio:11.1f}{run.peak_bytes / 1e6:9.0f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())

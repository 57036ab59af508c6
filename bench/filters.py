"""The claim: our filters judge hundreds of times faster than datatrove's, from a cold start, and stay as fast.

    python bench/filters.py [--corpora DIR] [--kinds NAME...] [--filters NAME...] [--stacks NAME...]
                            [--megabytes 2] [--our-megabytes 16] [--processes 2] [--runs 3] [--least N]
    python bench/filters.py --scale [25 100 400 2000]

Both sides judge the same documents (the first --megabytes of text of each kind) with the same number of processes, each
run in fresh processes. Timed is the judging, all of it: no word is known when it begins, from an earlier run or from
another corpus. Not timed, but printed (`start`), is what comes before: interpreters, imports, compiled code and models,
and the judging of one tiny text. `ratio` compares the judging of the same documents; `more` is our speed on up to
--our-megabytes of the kind, of which a smaller part is new. MB are bytes of UTF-8 text / 1e6; peak memory is that of
all processes, documents included. datatrove's filters stop at the first that drops, ours measure everything. `kept` has
to be the same on both sides. In a stack, `language` keeps the kind's own languages from a score of 0.65; of code and
mail, which are in no language or in many, any of LANGUAGES from a score of 0.

--scale is ours alone: the corpora over and over, in each round with other new words woven in; cost per MB so far at
each size, which has to stay within 20 %. Ends with exit code 1 where it does not, where both sides keep different
numbers of documents, or where a ratio is below --least.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import corpora
import filter_parity
from measure import Measured, measure

LANGUAGES = [
    "en",
    "de",
    "fr",
    "es",
    "it",
    "pt",
    "nl",
    "ru",
    "ja",
    "zh",
    "ko",
    "vi",
    "pl",
    "sv",
    "da",
    "fi",
    "hu",
    "la",
    "ca",
]
# Kind → files, the languages that a stack keeps, and from what score.
KINDS: dict[str, tuple[tuple[str, ...], list[str], float]] = {
    "english": (("english-prose.parquet", "books-en.jsonl.zst"), ["en"], 0.65),
    "vietnamese": (("vietnamese-wiki.jsonl.zst", "vi.jsonl.zst"), ["vi"], 0.65),
    "code": (("code.jsonl.zst",), LANGUAGES, 0),
    "mail": (("mail-en.jsonl.zst",), LANGUAGES, 0),
    "russian": (("ru.jsonl.zst",), ["ru"], 0.65),
    "japanese": (("ja.jsonl.zst",), ["ja"], 0.65),
}
STACKS = {
    "smollm3": ["language", "gopher_repetition", "gopher_quality", "spam"],
    "fineweb": ["language", "gopher_repetition", "gopher_quality", "c4_quality", "fineweb_quality"],
}
# What FineWeb sets otherwise than datatrove's defaults; both sides know the name.
OF_STACK = {"fineweb": {"c4_quality": {"filter_no_terminal_punct": False}}}


@dataclass(frozen=True)
class Side:
    """The best of some runs of one side."""

    seconds: float
    start_seconds: float
    kept: int
    peak_bytes: int


def main() -> int:
    arguments = _arguments()
    there = {row.name for row in filter_parity.ROWS if _is_there(row)}
    if arguments.scale is not None:
        import filter_scale

        return filter_scale.main(
            corpora.files(arguments.corpora), sorted(there & set(STACKS["smollm3"])), arguments.scale
        )
    jobs = {name: [name] for name in arguments.filters if name in there}
    for name in arguments.stacks:
        if left_out := set(STACKS[name]) - there:
            print(f"{name}: without {', '.join(sorted(left_out))}, which are not there")
        jobs[f"{name} stack"] = [one for one in STACKS[name] if one in there]
    print(
        f"{arguments.processes} processes, best of {arguments.runs} runs\n"
        f"{'kind':11}{'filters':24}{'MB':>6}{'ours':>9}{'theirs':>9}{'ratio':>8}{'more':>9}"
        f"{'start: ours, theirs':>21}{'peak MB: ours, theirs':>23}{'kept':>7}"
    )
    right = True
    for kind, (names, languages, threshold) in KINDS.items():
        files = [arguments.corpora / name for name in names if (arguments.corpora / name).is_file()]
        if kind not in arguments.kinds or not files:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            few = _write(files, arguments.megabytes, Path(scratch) / "few.arrow")
            many = _write(files, arguments.our_megabytes, Path(scratch) / "many.arrow")
            for label, filters in jobs.items():
                own = _parameters(label.removesuffix(" stack"), filters, languages, threshold)
                job = {"filters": own, "processes": arguments.processes}
                ours = _best(job, "ours", few, arguments.runs)
                theirs = _best(job, "theirs", few, arguments.runs)
                more = _best(job, "ours", many, arguments.runs)
                ratio = theirs.seconds / ours.seconds
                print(
                    f"{kind:11}{label:24}{few[1] / 1e6:6.1f}{few[1] / 1e6 / ours.seconds:9.1f}"
                    f"{few[1] / 1e6 / theirs.seconds:9.2f}{ratio:8.0f}{many[1] / 1e6 / more.seconds:9.1f}"
                    f"{ours.start_seconds:12.1f} s{theirs.start_seconds:5.1f} s"
                    f"{more.peak_bytes / 1e6:14.0f}{theirs.peak_bytes / 1e6:9.0f}"
                    + (f"{ours.kept:7}" if ours.kept == theirs.kept else f"  DIFFERENT: {ours.kept}, {theirs.kept}"),
                    flush=True,
                )
                right &= ours.kept == theirs.kept and ratio >= arguments.least
    return 0 if right else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [row.name for row in filter_parity.ROWS]
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--filters", nargs="*", choices=names, default=names)
    parser.add_argument("--stacks", nargs="*", choices=STACKS, default=list(STACKS))
    parser.add_argument("--megabytes", type=float, default=2)
    parser.add_argument("--our-megabytes", type=float, default=16)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--scale", type=int, nargs="*", metavar="MEGABYTES")
    return parser.parse_args()


def _is_there(row: filter_parity.Row) -> bool:
    try:
        row.prepare()
        for target in (row.ours, row.theirs):
            module, _, name = target.partition(":")
            getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        print(f"{row.name} is left out: {error}", file=sys.stderr)
        return False
    return True


def _parameters(label: str, filters: list[str], languages: list[str], threshold: float) -> dict[str, Any]:
    """For each filter what the two sides are given beside its row's parameters."""
    own = {name: {side: OF_STACK.get(label, {}).get(name, {}) for side in ("ours", "theirs")} for name in filters}
    if "language" in own:
        own["language"] = {
            "ours": {"keep": languages, "threshold": threshold},
            "theirs": {"languages": languages, "language_threshold": threshold},
        }
    return own


def _write(files: list[Path], megabytes: float, path: Path) -> tuple[Path, int]:
    """The first so many megabytes of text, from all files in turn; how many bytes that is."""
    texts: list[str] = []
    text_bytes = 0
    for text in (text for file in files for text in corpora.texts(file)):
        if text_bytes >= megabytes * 1e6:
            break
        texts.append(text)
        text_bytes += len(text.encode())
    table = pa.table({"text": pa.array(texts, pa.large_string())})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    return path, text_bytes


def _best(job: dict[str, Any], side: str, documents: tuple[Path, int], runs: int) -> Side:
    results = [_run({**job, "side": side, "documents": str(documents[0])}) for _ in range(runs)]
    if len({result["kept"] for result, _ in results}) > 1:
        sys.exit(f"{side}: two runs kept different numbers of documents")
    return Side(
        min(result["seconds"] for result, _ in results),
        min(result["start_seconds"] for result, _ in results),
        results[0][0]["kept"],
        min(run.peak_bytes for _, run in results),
    )


def _run(job: dict[str, Any]) -> tuple[dict[str, Any], Measured]:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "job.json"
        file.write_text(json.dumps(job))
        path = ":".join([str(Path(__file__).parent), *filter(None, sys.path[1:])])
        run = measure([sys.executable, "-m", "peers.filter_side", str(file)], PYTHONPATH=path, HF_HUB_OFFLINE="1")
        return json.loads(file.with_suffix(".result").read_text()), run


if __name__ == "__main__":
    sys.exit(main())

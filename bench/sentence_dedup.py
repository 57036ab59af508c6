"""Sentence deduplication end to end: ours against datatrove's three steps, same documents, same number of workers.

    python bench/sentence_dedup.py [--corpora DIR] [--megabytes 10 100] [--workers 2] [--runs 1]

Both read the same JSONL files (one a worker) and leave the cut documents on disk: we as Parquet files of a run up to
and with `dedup`, the cuts beside them; datatrove as JSONL. Start-up counted for both. The documents are real English
paragraphs in new orders, so some sentences stand in several. The texts that stay are compared (with several tasks
datatrove's order of documents is by number in the file, so which occurrence is first may differ).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import corpora
import recombined
from measure import Measured, best, measure

HERE = Path(__file__).parent


ENGLISH = ("english-prose.parquet", "english-docs.jsonl.gz", "books-en.jsonl.zst", "mail-en.jsonl.zst")


def write_files(texts: list[str], folder: Path, files: int) -> list[Path]:
    """The documents as JSONL, spread over some files in order."""
    folder.mkdir()
    size = -(-len(texts) // files)
    paths = []
    for number in range(files):
        paths.append(folder / f"{number:05}.jsonl")
        with open(paths[-1], "w", encoding="utf-8") as out:
            for at, text in enumerate(texts[number * size : (number + 1) * size], number * size):
                out.write(json.dumps({"id": str(at), "text": text}, ensure_ascii=False) + "\n")
    return paths


def ours(input_folder: Path, tokenizer: Path, scratch: Path, workers: int) -> Measured:
    """The route up to `tokenize`."""
    recipe = scratch / "recipe.yaml"
    recipe.write_text(
        json.dumps(
            {
                "sources": [{"name": "web", "path": str(input_folder / "*.jsonl")}],
                "clean": [],
                "dedup": ["sentences"],
                "tokenizer": {"path": str(tokenizer)},
                "pack": {"sequence_length": 2048},
                "output": {"path": str(scratch / "out"), "chunk": "4MB"},
                "engine": {"workers": workers},
            }
        )
    )
    return measure([sys.executable, str(HERE / "up_to_dedup.py"), str(recipe)])


THEIRS = """
import sys
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups
from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
if __name__ == "__main__":
    source, out, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    config = SentDedupConfig()
    steps = [
        [JsonlReader(source), SentenceDedupSignature(out + "/signatures", workers, config)],
        [SentenceFindDedups(out + "/signatures", out + "/found", config=config)],
        [JsonlReader(source), SentenceDedupFilter(out + "/found", config),
         JsonlWriter(out + "/left", compression=None)],
    ]
    for number, pipeline in enumerate(steps):
        LocalPipelineExecutor(
            pipeline, tasks=workers, workers=workers, logging_dir=f"{out}/logs{number}", skip_completed=False
        ).run()
"""


def theirs(input_folder: Path, scratch: Path, workers: int) -> Measured:
    """datatrove's steps, by its own local executor."""
    script = scratch / "theirs.py"
    script.write_text(THEIRS)
    return measure([sys.executable, str(script), str(input_folder), str(scratch / "datatrove"), str(workers)])


def left_by_us(scratch: Path) -> list[str]:
    """The texts that stay, from the run's files."""
    from gristmill.formats import cuts, drops

    texts: list[str] = []
    for path in sorted((scratch / "out" / "sift" / "web").glob("[0-9]*[0-9].parquet")):
        table = pq.read_table(path, columns=["row", "text"]).combine_chunks()
        made = scratch / "out" / "dedup" / "sentences" / "web"
        rows, column = table["row"].to_numpy(), table["text"].combine_chunks()
        if (cut := made / f"{path.stem}.cuts.parquet").exists():
            column = cuts.cut_rows(column, rows, cuts.read(cut))
        gone = made / f"{path.stem}.drops.parquet"
        dropped = set(drops.read_rows(gone).tolist()) if gone.exists() else set()
        texts += [text for row, text in zip(rows.tolist(), column.to_pylist(), strict=True) if row not in dropped]
    return texts


def left_by_them(scratch: Path) -> list[str]:
    """The same of datatrove."""
    lines = [
        line
        for path in sorted((scratch / "datatrove" / "left").iterdir())
        for line in path.read_text().split("\n")[:-1]
    ]
    return [json.loads(line)["text"] for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    for megabytes in options.megabytes:
        files = [options.corpora / name for name in ENGLISH]
        compare(list(recombined.documents(files, megabytes * 1_000_000)), options)


def compare(texts: list[str], options: argparse.Namespace) -> None:
    """Both on the same texts; datatrove once."""
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{len(texts):,} documents, {megabytes:.0f} MB, {options.workers} workers", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        write_files(texts, scratch / "in", options.workers)
        runs = []
        for _ in range(options.runs + 1):  # the first compiles kernels, once a machine
            shutil.rmtree(scratch / "out", ignore_errors=True)
            runs.append(ours(scratch / "in", options.tokenizer, scratch, options.workers))
        mine, peer = best(runs[1:]), theirs(scratch / "in", scratch, options.workers)
        us, them = left_by_us(scratch), left_by_them(scratch)
    same = "the same texts" if us == them else f"{len(set(us) & set(them)):,} of the texts the same"
    print(f"  left: {len(us):,} documents by us, {len(them):,} by datatrove; {same}")
    for name, run in (("gristmill", mine), ("datatrove", peer)):
        rate = megabytes / run.seconds
        print(f"  {name:10} {run.seconds:8.2f} s {rate:8.2f} MB/s {run.peak_bytes / 1e6:6.0f} MB peak")
    print(f"  {peer.seconds / mine.seconds:.0f} times as fast", flush=True)


if __name__ == "__main__":
    main()

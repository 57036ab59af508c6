"""Sentence deduplication end to end: ours against datatrove's three steps, same documents, same number of workers.

    python bench/sentence_dedup.py [--corpora DIR] [--bytes 60000000] [--workers 2] [--runs 1]

Both read the same JSONL files (one a worker, or more) and leave the cut documents on disk: we as Parquet files of a
run up to and with `dedup`, the cuts beside them; datatrove as JSONL. Start-up counted for both. A part of the
documents is given twice, its sentences in other surroundings, so that there is something to cut. The texts that stay
are compared, ours made in one process from the same input (with several tasks datatrove's order of documents is by
number in the file, so which occurrence is first may differ; then only the number of documents is shown).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import corpora
from measure import Measured, best, measure

HERE = Path(__file__).parent


ENGLISH = ("english-prose.parquet", "english-docs.jsonl.gz", "books-en.jsonl.zst", "mail-en.jsonl.zst")


def documents(folder: Path, wanted_bytes: int) -> list[str]:
    """English texts; behind every fourth document one that is made of the halves of two before it."""
    found: list[str] = []
    total_bytes = 0
    for text in (text for name in ENGLISH for text in corpora.texts(folder / name)):
        found.append(text)
        if len(found) % 5 == 4:
            other = found[-3]
            found.append(other[: len(other) // 2] + " " + text[len(text) // 2 :])
        total_bytes += len(found[-1].encode())
        if total_bytes >= wanted_bytes:
            break
    return found


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tokenizer", type=Path, default=corpora.GPT2)
    parser.add_argument("--bytes", type=int, default=60_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    texts = documents(options.corpora, options.bytes)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{len(texts):,} documents, {megabytes:.1f} MB, {options.workers} workers", flush=True)
    found: dict[str, list[Measured]] = {"gristmill": [], "datatrove": []}
    for number in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            write_files(texts, scratch / "in", options.workers)
            found["gristmill"].append(ours(scratch / "in", options.tokenizer, scratch, options.workers))
            found["datatrove"].append(theirs(scratch / "in", scratch, options.workers))
            if number == 0:
                us, them = left_by_us(scratch), left_by_them(scratch)
                same = "the same texts" if us == them else "not the same texts"
                print(f"left: {len(us):,} documents by us, {len(them):,} by datatrove; {same}", flush=True)
    for name, runs in found.items():
        run = best(runs)
        print(
            f"{name:10} {run.seconds:8.2f} s  {megabytes / run.seconds:8.2f} MB/s  {run.peak_bytes / 1e6:6.0f} MB peak"
        )
    print(f"{best(found['datatrove']).seconds / best(found['gristmill']).seconds:.1f} times as fast")


if __name__ == "__main__":
    main()

"""Tokenizing as people script it: a process pool, `tokenizers`, a Parquet file for every 10,000 documents or so.

usage: tokenizers_parquet.py TOKENIZER_JSON EOS OUTPUT PROCESSES BATCH_DOCUMENTS FILE...
BATCH_DOCUMENTS = 1 encodes one document at a time, more are encoded with `encode_batch`. EOS after each document.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes already use every core

import pyarrow as pa
import pyarrow.parquet as pq
from tokenizers import Tokenizer

ROWS_A_FILE = 10_000


def texts(file: str) -> Iterator[str]:
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def tokenize(tokenizer_file: str, eos_token: str, output: Path, batch_documents: int, file: str) -> None:
    """One input file."""
    tokenizer = Tokenizer.from_file(tokenizer_file)
    eos = tokenizer.token_to_id(eos_token)
    rows: list[list[int]] = []
    written = 0
    documents = texts(file)
    while batch := list(islice(documents, batch_documents)):
        if batch_documents == 1:
            rows.append([*tokenizer.encode(batch[0], add_special_tokens=False).ids, eos])
        else:
            rows += [[*encoding.ids, eos] for encoding in tokenizer.encode_batch(batch, add_special_tokens=False)]
        if len(rows) >= ROWS_A_FILE:
            write(rows, output / f"{Path(file).stem}-{written:05}.parquet")
            rows, written = [], written + 1
    if rows:
        write(rows, output / f"{Path(file).stem}-{written:05}.parquet")


def write(rows: list[list[int]], path: Path) -> None:
    pq.write_table(pa.table({"input_ids": pa.array(rows, pa.list_(pa.uint32()))}), path, compression="none")


def main() -> None:
    tokenizer, eos_token, output, processes, batch_documents, *files = sys.argv[1:]
    Path(output).mkdir(parents=True)
    with multiprocessing.Pool(int(processes)) as pool:
        jobs = [(tokenizer, eos_token, Path(output), int(batch_documents), file) for file in files]
        pool.starmap(tokenize, jobs, chunksize=1)


if __name__ == "__main__":
    main()

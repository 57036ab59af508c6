"""The route as people write it today: datasets.map + a transformers fast tokenizer + TRL's pack_dataset.

usage: datasets_route.py TOKENIZER_JSON OUTPUT PROCESSES SEQUENCE_LENGTH FILE...
Same work as ours: strip, at least 100 characters, exact duplicates out, EOS after each document, best-fit rows.
"""

from __future__ import annotations

import os
import sys
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # num_proc processes already use every core

import datasets
from transformers import PreTrainedTokenizerFast
from trl import pack_dataset


def clean(batch: dict[str, list[Any]]) -> dict[str, list[str]]:
    return {"text": [(text or "").strip() for text in batch["text"]]}


def main() -> None:
    tokenizer_file, output, processes, sequence_length, *files = sys.argv[1:]
    datasets.disable_caching()
    datasets.disable_progress_bars()
    num_proc = int(processes)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=tokenizer_file, eos_token="<|endoftext|>")
    rows = datasets.load_dataset("json", data_files=files, split="train", cache_dir=f"{output}.cache")
    rows = rows.select_columns(["text"]).map(clean, batched=True, num_proc=num_proc)
    seen: set[str] = set()

    def keep(text: str) -> bool:
        if len(text) < 100 or text in seen:
            return False
        seen.add(text)
        return True

    rows = rows.filter(keep, input_columns="text")  # one process: the set of texts is one
    eos = tokenizer.eos_token_id

    def encode(batch: dict[str, list[str]]) -> dict[str, list[list[int]]]:
        return {
            "input_ids": [[*ids, eos] for ids in tokenizer(batch["text"], return_attention_mask=False)["input_ids"]]
        }

    rows = rows.map(encode, batched=True, num_proc=num_proc, remove_columns=["text"])
    rows = pack_dataset(rows, int(sequence_length), strategy="bfd")
    rows.save_to_disk(output)


if __name__ == "__main__":
    main()

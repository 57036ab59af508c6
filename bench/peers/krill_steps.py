"""krill's `preprocess` as krill does it: datasets.map, a transformers fast tokenizer, TRL's pack_dataset("wrapped").

usage: krill_steps.py TOKENIZER_JSON OUTPUT PROCESSES SEQUENCE_LENGTH MIN_LENGTH FILE...
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
    """Strip, and leave out what is no UTF-8."""
    return {"text": [(text or "").strip().encode("utf-8", "ignore").decode() for text in batch["text"]]}


def main() -> None:
    tokenizer_file, output, processes, sequence_length, min_length, *files = sys.argv[1:]
    datasets.disable_caching()
    datasets.disable_progress_bars()
    num_proc, length, least = int(processes), int(sequence_length), int(min_length)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=tokenizer_file, eos_token="<|endoftext|>")
    eos = tokenizer.eos_token_id
    rows = datasets.load_dataset("json", data_files=files, split="train", cache_dir=f"{output}.cache")
    rows = rows.select_columns(["text"]).map(clean, batched=True, num_proc=num_proc)
    seen: set[str] = set()

    def keep(text: str) -> bool:
        if len(text) < 100 or text in seen:
            return False
        seen.add(text)
        return True

    def encode(batch: dict[str, list[str]]) -> dict[str, list[list[int]]]:
        encoded = tokenizer(batch["text"], return_attention_mask=False)["input_ids"]
        return {"input_ids": [[*ids, eos] for ids in encoded]}

    rows = rows.filter(keep, input_columns="text")  # one process: the set of texts is one
    rows = rows.map(encode, batched=True, num_proc=num_proc, remove_columns=["text"])
    rows = rows.filter(lambda ids: len(ids) >= least, input_columns="input_ids", num_proc=num_proc)
    # By itself TRL packs each thousand rows apart, and leaves a short row behind each.
    rows = pack_dataset(rows, length, "wrapped", {"batch_size": len(rows)})
    if len(rows) and len(rows[-1]["input_ids"]) < length:
        rows = rows.select(range(len(rows) - 1))
    rows = rows.map(lambda batch: {"attention_mask": [[1] * length for _ in batch["input_ids"]]}, batched=True,
                    num_proc=num_proc)  # fmt: skip
    rows.save_to_disk(output, max_shard_size="200MB")


if __name__ == "__main__":
    main()

"""The same with datatrove: clean and filter, three steps of exact deduplication, DocumentTokenizer. It packs nothing.

usage: datatrove_route.py TOKENIZER_JSON OUTPUT PROCESSES FOLDER_OF_JSONL_FILES
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes already use every core

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import ExactDedupConfig, ExactDedupFilter, ExactDedupSignature, ExactFindDedups
from datatrove.pipeline.filters import LambdaFilter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.tokens import DocumentTokenizer
from datatrove.pipeline.writers import JsonlWriter


def clean(documents: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
    """Strip, and leave out what is no UTF-8."""
    for document in documents:
        document.text = document.text.strip().encode("utf-8", "ignore").decode()
        yield document


def long_enough(document: Any) -> bool:
    """krill's bound."""
    return len(document.text) >= 100


def content(document: Any) -> str:
    """What is compared."""
    return str(document.text)


def main() -> None:
    tokenizer, out, processes, folder = sys.argv[1:]
    tasks = len(list(Path(folder).iterdir()))
    config = ExactDedupConfig(content_getter=content)

    def kept() -> Any:
        return JsonlReader(f"{out}/kept", compression=None)

    steps: list[tuple[int, list[Any]]] = [
        (tasks, [JsonlReader(folder), clean, LambdaFilter(long_enough), JsonlWriter(f"{out}/kept", compression=None)]),
        (tasks, [kept(), ExactDedupSignature(f"{out}/signatures", config)]),
        (1, [ExactFindDedups(f"{out}/signatures", f"{out}/found", config)]),
        (tasks, [kept(), ExactDedupFilter(f"{out}/found", config),
                 DocumentTokenizer(f"{out}/tokens", tokenizer, eos_token="<|endoftext|>", shuffle_documents=False)]),
    ]  # fmt: skip
    for number, (count, pipeline) in enumerate(steps):
        logs = f"{out}/logs_{number}"
        LocalPipelineExecutor(pipeline, tasks=count, workers=min(int(processes), count), logging_dir=logs).run()


if __name__ == "__main__":
    main()

"""One side of bench/blocks.py: a datatrove pipeline with datatrove's blocks, or with ours in their place.

    python blocks_side.py PIPELINE BLOCKS READER_AND_WRITER WORKERS TOKENIZER INPUT_FOLDER OUTPUT_FOLDER

BLOCKS, and READER_AND_WRITER, are `ours` or `theirs`. Prints the seconds of each executor.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes already use every core


def blocks_of(side: str) -> Any:
    """Classes by name."""
    if side == "ours":
        import gristmill.datatrove

        return gristmill.datatrove
    from datatrove.pipeline import dedup, filters
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer
    from datatrove.pipeline.writers import JsonlWriter

    named = {name: getattr(module, name) for module in (dedup, filters) for name in dir(module)}
    return SimpleNamespace(
        **named, JsonlReader=JsonlReader, JsonlWriter=JsonlWriter, DocumentTokenizer=DocumentTokenizer
    )


def main() -> None:
    """Run the pipeline."""
    pipeline, side, ends_side, workers, tokenizer, folder, out = sys.argv[1:]
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashConfig
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig

    blocks, ends = blocks_of(side), blocks_of(ends_side)
    tasks = len(list(Path(folder).iterdir()))

    def read() -> Any:
        return ends.JsonlReader(folder)

    def write(name: str) -> Any:
        return ends.JsonlWriter(f"{out}/{name}")

    steps: list[tuple[int, list[Any]]]
    if pipeline == "filters":
        judges = [
            blocks.GopherRepetitionFilter(exclusion_writer=write("gone/1")),
            blocks.GopherQualityFilter(exclusion_writer=write("gone/2")),
            blocks.C4QualityFilter(filter_no_terminal_punct=False, exclusion_writer=write("gone/3")),
            blocks.FineWebQualityFilter(exclusion_writer=write("gone/4")),
        ]
        steps = [(tasks, [read(), *judges, write("kept")])]
    elif pipeline == "sentences":
        config = SentDedupConfig()
        steps = [
            (tasks, [read(), blocks.SentenceDedupSignature(f"{out}/signatures", config=config)]),
            (1, [blocks.SentenceFindDedups(f"{out}/signatures", f"{out}/found", config=config)]),
            (tasks, [read(), blocks.SentenceDedupFilter(f"{out}/found", config, write("gone")), write("kept")]),
        ]
    elif pipeline == "minhash":
        minhash = MinhashConfig()
        steps = [
            (tasks, [read(), blocks.MinhashDedupSignature(f"{out}/signatures", minhash)]),
            (minhash.num_buckets, [blocks.MinhashDedupBuckets(f"{out}/signatures", f"{out}/pairs", config=minhash)]),
            (1, [blocks.MinhashDedupCluster(f"{out}/pairs", f"{out}/removed", minhash)]),
            (tasks, [read(), blocks.MinhashDedupFilter(f"{out}/removed", write("gone")), write("kept")]),
        ]
    else:
        steps = [(tasks, [read(), blocks.DocumentTokenizer(f"{out}/tokens", tokenizer, eos_token="<|endoftext|>",
                                                            seed=1)])]  # fmt: skip
    seconds = []
    for number, (count, of_step) in enumerate(steps):
        started = time.perf_counter()
        logs = f"{out}/logs_{number}"
        LocalPipelineExecutor(of_step, tasks=count, workers=min(int(workers), count), logging_dir=logs).run()
        seconds.append(time.perf_counter() - started)
    print("\n" + json.dumps(seconds))


if __name__ == "__main__":
    main()

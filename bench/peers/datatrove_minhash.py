"""datatrove's side of bench/dedup.py: its four steps of MinHash, with its defaults, writing what is left as Parquet.

python datatrove_minhash.py OUTPUT WORKERS FOLDER_OF_JSONL_FILES
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import ParquetWriter


def main() -> None:
    output, workers, folder = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    files = len(list(Path(folder).glob("*.jsonl")))
    config = MinhashConfig()
    signatures, buckets, removed = output / "signatures", output / "buckets", output / "removed"

    def reader() -> JsonlReader:
        return JsonlReader(folder, glob_pattern="*.jsonl", compression=None)

    steps = [
        (files, [reader(), MinhashDedupSignature(str(signatures), config)]),
        (config.num_buckets, [MinhashDedupBuckets(str(signatures), str(buckets), config=config)]),
        (1, [MinhashDedupCluster(str(buckets), str(removed), config)]),
        (files, [reader(), MinhashDedupFilter(str(removed)),
                 ParquetWriter(str(output / "filtered"), compression="zstd")]),
    ]  # fmt: skip
    for number, (tasks, pipeline) in enumerate(steps):
        LocalPipelineExecutor(
            pipeline, tasks=tasks, workers=workers, logging_dir=str(output / f"logs_{number}"), skip_completed=False
        ).run()
    gone = sum(path.stat().st_size // 4 for path in removed.glob("*.remove"))
    print(json.dumps({"gone": gone}))


if __name__ == "__main__":
    main()

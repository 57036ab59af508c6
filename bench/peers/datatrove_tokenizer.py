"""Tokenizing with datatrove: JsonlReader and DocumentTokenizer on its local executor, documents in their order.

usage: datatrove_tokenizer.py TOKENIZER_JSON EOS OUTPUT PROCESSES FOLDER
"""

from __future__ import annotations

import os
import sys

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes already use every core

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.tokens import DocumentTokenizer


def main() -> None:
    tokenizer, eos_token, output, processes, folder = sys.argv[1:]
    steps = [
        JsonlReader(folder),
        DocumentTokenizer(output, tokenizer, eos_token=eos_token, batch_size=1000, shuffle_documents=False),
    ]
    LocalPipelineExecutor(steps, tasks=int(processes), workers=int(processes), logging_dir=f"{output}.logs").run()


if __name__ == "__main__":
    main()

"""What --scale of bench/filters.py does: the cost per MB of one process that judges ever more text.

Every round goes through the corpora once more and weaves other words into the text: every 25th word gets an ending
that no round before had. So there is always something new, as in a big corpus, and nothing is a plain copy.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

import corpora
from filter_parity import ROWS
from peers.filter_side import BATCH_BYTES, TINY, our_judge

SIZES_MEGABYTES = (25, 100, 400, 2000)
MOST_GROWTH = 0.2
_EVERY = 25
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _ending(number: int) -> str:
    """Letters that stand for a number, so that a word stays one."""
    letters = ""
    while number:
        number, rest = divmod(number, len(_LETTERS))
        letters += _LETTERS[rest]
    return letters


def _batches(files: Sequence[Path]) -> Iterator[Any]:
    texts: list[str] = []
    size = 0
    fresh = count(1)
    for _ in count():
        for text in (text for file in files for text in corpora.texts(file)):
            words = text.split(" ")
            words[::_EVERY] = [word + _ending(next(fresh)) for word in words[::_EVERY]]
            texts.append(" ".join(words))
            size += len(texts[-1].encode())
            if size >= BATCH_BYTES:
                yield pa.array(texts, pa.large_string()), size
                texts, size = [], 0


def main(files: Sequence[Path], filters: Sequence[str], sizes_megabytes: Sequence[int]) -> int:
    """Print the cost so far at each size; 1 where it grew or shrank by more than MOST_GROWTH."""
    parameters = {row.name: {"ours": {}, "theirs": {}} for row in ROWS if row.name in filters}
    judge = our_judge({"filters": parameters})
    judge(pa.array([TINY], pa.large_string()))
    print(f"{', '.join(parameters)}; one process\n{'MB':>6}{'ms a MB':>10}{'since the last size':>21}")
    wanted = sorted(sizes_megabytes or SIZES_MEGABYTES)
    costs: list[float] = []
    seconds = last_seconds = 0.0
    text_bytes = last_bytes = 0
    for batch, size in _batches(files):
        started = time.process_time()
        judge(batch)
        seconds += time.process_time() - started
        text_bytes += size
        if text_bytes >= wanted[len(costs)] * 1e6:
            costs.append(seconds / text_bytes * 1e9)
            since = (seconds - last_seconds) / (text_bytes - last_bytes) * 1e9
            print(f"{text_bytes / 1e6:6.0f}{costs[-1]:10.2f}{since:21.2f}", flush=True)
            last_seconds, last_bytes = seconds, text_bytes
            if len(costs) == len(wanted):
                break
    growth = max(costs) / min(costs) - 1
    print(f"largest difference: {growth:.0%}")
    return 0 if growth <= MOST_GROWTH else 1

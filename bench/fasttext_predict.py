"""The claim: our kernel predicts languages at least 12 times as fast as fastText's own `predict`, on one core, with the
same label and a score within 0.001.

    python bench/fasttext_predict.py [--corpora DIR] [--files NAME...] [--megabytes 10] [--model PATH] [--rounds 3]

Each side is a process of its own that reads the same documents. What is timed (processor time) is predicting alone,
from a cold cache of words, with newlines replaced beforehand. Rounds alternate, the best of each side counts. Peak
memory is of the whole process, documents included. Ends with exit code 1 where labels differ, scores are more than
0.001 apart, or the ratio is below 12.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import corpora

CLOSE, LEAST_RATIO = 0.001, 12
SIDES = ("ours", "theirs")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--files", nargs="+")
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--model", default="lid.176.ftz")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(_side(arguments.side, arguments.file, arguments.megabytes, arguments.model)))
        return 0
    files = [file for file in corpora.files(arguments.corpora) if not arguments.files or file.name in arguments.files]
    failed = False
    print(
        "file                          documents     MB   ours MB/s  theirs MB/s  ratio  labels   scores apart  peak MB"
    )
    for file in files:
        runs: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
        for _ in range(arguments.rounds):
            for side in SIDES:
                runs[side].append(_run(side, file, arguments))
        failed |= _report(file, runs)
    return int(failed)


def _run(side: str, file: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--side", side, "--file", str(file)]
    command += ["--megabytes", str(arguments.megabytes), "--model", arguments.model]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout
    result: dict[str, Any] = json.loads(output.splitlines()[-1])
    return result


def _report(file: Path, runs: dict[str, list[dict[str, Any]]]) -> bool:
    ours, theirs = (min(runs[side], key=lambda run: run["seconds"]) for side in SIDES)
    equal = float(np.mean([one == other for one, other in zip(ours["labels"], theirs["labels"], strict=True)]))
    apart = float(np.abs(np.array(ours["scores"]) - np.array(theirs["scores"])).max())
    size = ours["bytes"] / 1e6
    ratio = theirs["seconds"] / ours["seconds"]
    speeds = f"{size / ours['seconds']:12.0f}{size / theirs['seconds']:13.1f}{ratio:7.1f}"
    peaks = f"{ours['peak_mb']:.0f} / {theirs['peak_mb']:.0f}"
    print(f"{file.name:28}{len(ours['labels']):11,}{size:7.1f}{speeds}{equal:8.2%}{apart:15.7f}  {peaks}", flush=True)
    return equal < 1 or apart > CLOSE or ratio < LEAST_RATIO


def _side(side: str, file: Path, megabytes: float, model: str) -> dict[str, Any]:
    texts = list(_texts(file, int(megabytes * 1e6)))
    predict = _ours if side == "ours" else _theirs
    seconds, labels, scores = predict(texts, model)
    return {
        "seconds": seconds,
        "bytes": sum(len(text.encode()) for text in texts),
        "labels": labels,
        "scores": scores,
        "peak_mb": _peak_bytes() / 1e6,
    }


def _texts(file: Path, size_bytes: int) -> Iterator[str]:
    for whole in corpora.texts(file):
        if size_bytes <= 0:
            return
        text = whole.replace("\n", " ")
        size_bytes -= len(text.encode())
        yield text


def _ours(texts: list[str], model: str) -> tuple[float, list[str], list[float]]:
    from gristmill.document import buffers
    from gristmill.filters.fasttext_predictor import predictor_of

    predictor = predictor_of(model)
    offsets, data = buffers(pa.array(texts, pa.large_string()))
    started = time.process_time()
    found = predictor.predict(offsets, data)
    seconds = time.process_time() - started
    return seconds, predictor.named(found.label).to_pylist(), found.score.tolist()


def _theirs(texts: list[str], model: str) -> tuple[float, list[str], list[float]]:
    import fasttext

    from gristmill.filters.fasttext_file import address_of
    from gristmill.formats.resource import local_path

    judge = fasttext.load_model(local_path(address_of(model)))
    started = time.process_time()
    found = [judge.predict(text) for text in texts]
    seconds = time.process_time() - started
    return seconds, [labels[0].removeprefix("__label__") for labels, _ in found], [float(s[0]) for _, s in found]


def _peak_bytes() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


if __name__ == "__main__":
    sys.exit(main())

"""The claim: nothing short of a dead disk loses a document. A table: faults tried, survived, documents lost, time to
resume.

    python bench/faults.py [--rounds 1] [--only EXPRESSION]

Runs tests/faults (as root, or the disks that fill up are passed over), of which each case ends by comparing every file
of every stage with an undisturbed twin's, and sums up what the cases recorded. `--rounds 5` draws every random case
five times; `--only` is pytest's -k. Ends with exit code 1 where a case failed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Row:
    """What became of one kind of fault."""

    tried: int = 0
    survived: int = 0
    lost: int = 0
    seconds: list[float] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "cases.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "tests/faults",
            f"--junitxml={report}",
            "-o",
            "junit_family=xunit1",
        ]
        command += ["-k", options.only] if options.only else []
        environment = {**os.environ, "GRISTMILL_FAULT_ROUNDS": str(options.rounds)}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        cases = list(ElementTree.parse(report).iter("testcase"))
    rows: dict[str, Row] = defaultdict(Row)
    undisturbed, skipped = [], 0
    for case in cases:
        said = {item.get("name", ""): item.get("value", "") for item in case.iter("property")}
        failed = case.find("failure") is not None or case.find("error") is not None
        skipped += case.find("skipped") is not None
        if not said and not failed:
            continue  # a case that tries no run, or was skipped
        row = rows[said.get("fault", f"failed before its last run: {case.get('name')}")]
        row.tried += 1
        row.survived += not failed
        row.lost += int(said.get("lost", 0))
        if "seconds" in said:
            row.seconds.append(float(said["seconds"]))
            undisturbed.append(float(said["undisturbed"]))
    print(f"\n| {'fault':58} | tried | survived | documents lost | seconds to resume |")
    print(f"|{'-' * 60}|------:|---------:|---------------:|------------------:|")
    for fault, row in sorted(rows.items()):
        seconds = f"{statistics.median(row.seconds):.1f}" if row.seconds else ""
        print(f"| {fault:58} | {row.tried:5} | {row.survived:8} | {row.lost:14} | {seconds:>17} |")
    total = Row(*(sum(values) for values in zip(*((r.tried, r.survived, r.lost) for r in rows.values()), strict=True)))
    print(f"| {'all':58} | {total.tried:5} | {total.survived:8} | {total.lost:14} | {'':17} |")
    if undisturbed:
        print(f"\nAn undisturbed run of the same recipe, kernels loaded on the way: {max(undisturbed):.1f} s.")
    print(f"{skipped} cases skipped.")
    return code


if __name__ == "__main__":
    sys.exit(main())

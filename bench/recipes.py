"""The recipe that the benches of the route share, and how their outputs are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SEQUENCE_LENGTH = 2048


def over(files: Sequence[Path], tokenizer: Path, output: Path) -> dict[str, Any]:
    """The simplest whole route over these files, a source each."""
    return {
        "sources": [{"name": file.name.split(".")[0], "path": str(file)} for file in files],
        "filters": [{"length": {"min_characters": 100}}],
        "dedup": ["exact"],
        "tokenizer": {"path": str(tokenizer)},
        "mixture": {"seed": 1},
        "pack": {"strategy": "best_fit", "sequence_length": SEQUENCE_LENGTH},
        "output": {"path": str(output)},
    }


def digests(output: Path) -> dict[str, str]:
    """SHA-256 of every file of an output but the records (which hold times) and the lock."""
    sums = {}
    for path in sorted(output.rglob("*")):
        is_record = path.suffix == ".json" and path.name not in ("manifest.json", "ledger.json", "tokenizer.json")
        if path.is_file() and path.name != ".lock" and (not is_record or path.name.endswith(".spec.json")):
            sums[str(path.relative_to(output))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sums


def differing(found: dict[str, str], expected: dict[str, str]) -> list[str]:
    """The files that are not the same in both."""
    return sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))

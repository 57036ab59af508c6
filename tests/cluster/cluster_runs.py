"""How outputs of runs are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

STAGES = ("sift", "judge", "dedup", "tokenizer", "tokenize", "mix", "pack")
_NO_RECORDS = ("manifest.json", "tokenizer.json", "tokenizer.spec.json")
MakeRecipe = Callable[..., dict[str, Any]]


def digests(output: Path) -> dict[str, str]:
    """SHA-256 of every file in the stages' folders but the records, which hold times."""
    return {
        str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest()
        for stage in STAGES
        for path in sorted((output / stage).rglob("*"))
        if path.is_file() and (path.suffix != ".json" or path.name in _NO_RECORDS)
    }

"""The recipe that the benches of the route share."""

from __future__ import annotations

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

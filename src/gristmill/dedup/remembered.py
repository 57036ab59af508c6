"""The parameter `index` of deduplicators that remember between runs: a path, or a path and a name for the entry."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_ENTRY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_index(index: Any) -> None:
    """Raises ValueError for what names no index."""
    if index is None or (isinstance(index, str) and index and "://" not in index):
        return
    if isinstance(index, Mapping) and set(index) == {"path", "entry"} and isinstance(index["path"], str):
        if _ENTRY_NAME.fullmatch(str(index["entry"])):
            return
        raise ValueError(f"expected a name of letters, digits, `.`, `_` and `-` as `entry`, found {index['entry']!r}")
    raise ValueError(f"expected index: a local folder, or {{path: folder, entry: name}}, found {index!r}")


def index_path(index: Any) -> str:
    """Where the index lies."""
    return str(index["path"] if isinstance(index, Mapping) else index)


def entry_name(index: Any, output: Path) -> str:
    """What this run's entry is called: as the recipe says, or for the place of its output folder."""
    if isinstance(index, Mapping):
        return str(index["entry"])
    return hashlib.sha256(str(output.resolve()).encode()).hexdigest()[:16]

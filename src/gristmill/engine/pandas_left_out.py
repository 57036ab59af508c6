"""A process without pandas, though it may be installed: Arrow imports it unasked, which takes 0.15 s."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import Any


@contextmanager
def pandas_hidden() -> Iterator[None]:
    """Nobody finds pandas inside the block, nor does Arrow's `to_numpy`, which looks for it each time."""
    sys.meta_path.insert(0, _NoPandas)
    try:
        yield
    finally:
        sys.meta_path.remove(_NoPandas)


class _NoPandas(MetaPathFinder):
    """Finds no pandas."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)

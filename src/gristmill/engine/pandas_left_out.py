"""A process without pandas, though it may be installed: Arrow imports it unasked, which takes 0.15 s."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import Any


def leave_pandas_out() -> None:
    """Arrow imports pandas as soon as it is handed a NumPy array, to see if that is a series. It tries once; whoever
    asks Arrow for pandas itself (`to_pandas`) still gets it."""
    if "pandas" in sys.modules:
        return
    import numpy as np
    import pyarrow as pa

    with pandas_hidden():
        pa.array(np.zeros(1))


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

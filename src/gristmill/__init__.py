"""Gristmill: raw text in, training batches out.

    import gristmill as gm

    gm.run("recipe.yaml")                        # sift → dedup → tokenize → mix → pack
    for batch in gm.load("out/web", batch_size=8):
        ...                                      # input_ids, labels, position_ids, cu_seqlens
    gm.filters.Length(min_characters=100).verdicts(["short"])

The names below resolve when they are first used, so importing this package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gristmill import filters
    from gristmill.drive import Plan, Result, plan, run
    from gristmill.loader import load
    from gristmill.recipe import Recipe

__version__ = "0.1.0"

ROUTE = ("sift", "dedup", "tokenize", "mix", "pack", "load")

_HOMES = {
    "Plan": "drive",
    "Recipe": "recipe",
    "Result": "drive",
    "filters": "filters",
    "load": "loader",
    "plan": "drive",
    "run": "drive",
}

__all__ = ["ROUTE", "Plan", "Recipe", "Result", "__version__", "filters", "load", "plan", "run"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    value = module if name == _HOMES[name] == "filters" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

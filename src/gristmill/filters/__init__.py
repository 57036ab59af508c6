"""Text to verdicts. `gm.filters.NAME(**parameters).verdicts(texts)` judges a list of texts outside any run.

Names resolve lazily, so that importing this package loads no kernel.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gristmill.filters.fasttext_classifier import FastTextClassifier
    from gristmill.filters.fineweb_quality import FineWebQuality
    from gristmill.filters.gopher_quality import GopherQuality
    from gristmill.filters.gopher_repetition import GopherRepetition
    from gristmill.filters.language import Language
    from gristmill.filters.length import Length

_HOMES = {
    "FastTextClassifier": "fasttext_classifier",
    "FineWebQuality": "fineweb_quality",
    "GopherQuality": "gopher_quality",
    "GopherRepetition": "gopher_repetition",
    "Language": "language",
    "Length": "length",
}

__all__ = ["FastTextClassifier", "FineWebQuality", "GopherQuality", "GopherRepetition", "Language", "Length"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; filters: {', '.join(_HOMES)}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

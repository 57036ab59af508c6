"""Text to verdicts. `gm.filters.NAME(**parameters).verdicts(texts)` judges a list of texts outside any run.

Names resolve lazily, so that importing this package loads no kernel.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gristmill.filters.bad_words import BadWords
    from gristmill.filters.c4_paragraphs import C4Paragraphs
    from gristmill.filters.c4_quality import C4Quality
    from gristmill.filters.character_ratio import CharacterRatio
    from gristmill.filters.fineweb_quality import FineWebQuality
    from gristmill.filters.gopher_quality import GopherQuality
    from gristmill.filters.gopher_repetition import GopherRepetition
    from gristmill.filters.length import Length
    from gristmill.filters.presets import preset, preset_of_file
    from gristmill.filters.regex import Regex
    from gristmill.filters.sample import Sample
    from gristmill.filters.spam import Spam
    from gristmill.filters.url import Url

_HOMES = {
    "BadWords": "bad_words",
    "C4Paragraphs": "c4_paragraphs",
    "C4Quality": "c4_quality",
    "CharacterRatio": "character_ratio",
    "FineWebQuality": "fineweb_quality",
    "GopherQuality": "gopher_quality",
    "GopherRepetition": "gopher_repetition",
    "Length": "length",
    "Regex": "regex",
    "Sample": "sample",
    "Spam": "spam",
    "Url": "url",
    "preset": "presets",
    "preset_of_file": "presets",
}

__all__ = [
    "BadWords",
    "C4Paragraphs",
    "C4Quality",
    "CharacterRatio",
    "FineWebQuality",
    "GopherQuality",
    "GopherRepetition",
    "Length",
    "Regex",
    "Sample",
    "Spam",
    "Url",
    "preset",
    "preset_of_file",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; filters: {', '.join(_HOMES)}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

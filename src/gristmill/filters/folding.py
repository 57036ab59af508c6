"""The form in which phrases are looked for."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """Lower case, and NFC: as this Python has it."""
    return unicodedata.normalize("NFC", text.lower())

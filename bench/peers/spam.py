"""The peer of the spam filter: what somebody writes with datatrove."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter

import gristmill.filters

_LISTS = Path(gristmill.filters.__file__).parent / "data"


class SpamFilter(BaseFilter):  # type: ignore[misc]
    """A text is spam when one of the phrases occurs in its lower-cased, NFC-normalised form."""

    name = "spam"

    def __init__(self) -> None:
        super().__init__()
        lists = [_LISTS / f"spam.{language}.txt" for language in ("en", "vi")]
        self.phrases = [phrase for file in lists for phrase in file.read_text("utf-8").splitlines()]

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """False where a phrase occurs."""
        text = unicodedata.normalize("NFC", doc.text.lower())
        return (False, "phrase") if any(phrase in text for phrase in self.phrases) else True

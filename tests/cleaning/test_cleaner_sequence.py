from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from gristmill.cleaning.sequence import CleanerSequence
from gristmill.cleaning.strip import Strip
from gristmill.cleaning.unicode import Unicode


@dataclass(frozen=True)
class Picky:
    """Empties texts that begin with its mark, and says so."""

    mark: str

    def attempt(self, texts: Any) -> tuple[Any, Any]:
        refused = [text.startswith(self.mark) for text in texts.to_pylist()]
        left = ["" if no else text for text, no in zip(texts.to_pylist(), refused, strict=True)]
        reasons = [f"picky.{self.mark}" if no or not text else None for text, no in zip(left, refused, strict=True)]
        return pa.array(left, pa.large_string()), pa.array(reasons, pa.string())


@pytest.mark.parametrize(
    ("text", "cleaned", "reason"),
    [
        (b" fine ", "fine", None),
        (b"", "", "clean.empty"),
        (b"\xff", "", "clean.empty"),
        (b"  ", "", "clean.empty"),
        (b"a first", "", "picky.a"),
        (b" a first", "", "picky.a"),
        (b"b second", "", "picky.b"),
    ],
)
def test_the_first_reason_counts(text: bytes, cleaned: str, reason: str | None) -> None:
    sequence = CleanerSequence([Unicode(), Strip(), Picky("a"), Picky("b")])
    texts, reasons = sequence.clean(pa.array([b"other", text], pa.large_binary()))
    assert texts.to_pylist() == ["other", cleaned]
    assert reasons.to_pylist() == [None, reason]


def test_no_texts_and_no_cleaners() -> None:
    texts, reasons = CleanerSequence([]).clean(pa.array(["", "a"], pa.large_string()))
    assert (texts.to_pylist(), reasons.to_pylist()) == (["", "a"], ["clean.empty", None])
    texts, reasons = CleanerSequence([Unicode(), Picky("a")]).clean(pa.array([], pa.large_binary()))
    assert (len(texts), len(reasons), reasons.type) == (0, 0, pa.string())

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc
import pytest

from gristmill.units import choose


@dataclass(frozen=True)
class PerDocument:
    word: str = "spam"

    def verdict(self, text: str) -> str | None:
        return f"has_{self.word}" if self.word in text else None


@dataclass(frozen=True)
class Keep:
    def keep(self, text: str) -> bool:
        return "keep" in text


@dataclass(frozen=True)
class PerBatch:
    def verdicts(self, texts: Any) -> Any:
        return pc.if_else(pc.starts_with(texts, "x"), "begins_with_x", None)


@dataclass(frozen=True)
class Nothing:
    pass


@dataclass(frozen=True)
class TooFew:
    def verdicts(self, texts: Any) -> Any:
        return [None]


HERE = __name__


@pytest.mark.parametrize(
    ("name", "dropped", "kept", "reason"),
    [
        ("PerDocument", "some spam", "some ham", "PerDocument.has_spam"),
        ("Keep", "drop me", "keep me", "Keep.dropped"),
        ("PerBatch", "x y", "y x", "PerBatch.begins_with_x"),
    ],
)
def test_each_form(name: str, dropped: str, kept: str, reason: str) -> None:
    unit = choose("filter", f"{HERE}:{name}").make("filter")
    assert unit.verdicts([dropped, kept]).to_pylist() == [reason, None]


def test_a_form_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match="a method `verdicts"):
        choose("filter", f"{HERE}:Nothing")


def test_as_many_verdicts_as_texts() -> None:
    with pytest.raises(ValueError, match="expected 2 verdicts from TooFew, found 1"):
        choose("filter", f"{HERE}:TooFew").make("filter").verdicts(["a", "b"])

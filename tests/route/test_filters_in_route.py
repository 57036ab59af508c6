"""Filters of every kind in a recipe: users' own, those that look at other columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from route_inputs import make_recipe

import gristmill as gm


@dataclass(frozen=True)
class NoWord:
    word: str

    def verdict(self, text: str) -> str | None:
        return f"has_{self.word}" if self.word in text else None


def test_a_users_own_filter(tmp_path: Path) -> None:
    own = f"{__name__}:NoWord"
    first = gm.run(make_recipe(tmp_path, filters=[{own: {"word": "cối"}}])).ledger.of("sift")[0]
    assert first.gone.keys() == {"NoWord.has_cối"}
    assert first.details["rules"]["NoWord.has_cối"]["alone"] == first.gone["NoWord.has_cối"] > 0
    changed = gm.run(make_recipe(tmp_path, filters=[{own: {"word": "gạo"}}])).ledger.of("sift")[0]
    assert changed.gone.keys() == {"NoWord.has_gạo"}

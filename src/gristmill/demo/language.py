"""A language of the demo: enters its YAML file, leaves one grammar for each of its topics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from gristmill.demo.grammar import Draw, Grammar, choose


@dataclass(frozen=True)
class Language:
    """Topics to write about, and what is put right in a finished text (in English, `a` before a vowel)."""

    topics: tuple[Grammar, ...]
    rewrites: tuple[tuple[re.Pattern[str], str], ...]

    def topic(self, draw: Draw) -> Grammar:
        """Something to write about."""
        return choose(self.topics, draw)

    def corrected(self, text: str) -> str:
        """The text with every rewrite carried out."""
        for pattern, replacement in self.rewrites:
            text = pattern.sub(replacement, text)
        return text


@cache
def language(name: str) -> Language:
    """The language of that name: `english` or `vietnamese`."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    table = yaml.load(Path(__file__).with_name(f"{name}.yaml").read_text("utf-8"), loader)
    names = _options(table["names"])
    return Language(
        topics=tuple(Grammar({**names, **_options(topic)}) for topic in table["topics"]),
        rewrites=tuple((re.compile(pattern), replacement) for pattern, replacement in table["rewrites"]),
    )


def _options(table: dict[str, Any]) -> dict[str, list[str]]:
    return {name: _numbers(**ways) if isinstance(ways, dict) else ways for name, ways in table.items()}


def _numbers(**bounds: int) -> list[str]:
    return [str(number) for number in range(bounds["from"], bounds["to"] + 1)]

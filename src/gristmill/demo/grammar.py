"""A text grammar: enters a table of names and the ways to write each, leaves random text.

An option is text with `{name}`, drawn anew each time, or `{@name}`, drawn once for each page. The same draws give
the same text on every platform: the only arithmetic is a float in [0, 1) times the length of a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from random import Random
from typing import TypeAlias, TypeVar

from gristmill.errors import unknown_name

Draw: TypeAlias = Callable[[], float]
T = TypeVar("T")

_SLOT = re.compile(r"\{(@?\w+)\}")


def stream(*key: object) -> Draw:
    """Floats in [0, 1) that depend on the key alone.

    Python guarantees the sequence of `Random.random` for an integer seed, and of no other method of it.
    """
    digest = blake2b("\x1f".join(map(str, key)).encode(), digest_size=8).digest()
    return Random(int.from_bytes(digest, "big")).random


def choose(options: Sequence[T], draw: Draw) -> T:
    """One of the options, each as likely as the others."""
    return options[int(draw() * len(options))]


def between(low: int, high: int, draw: Draw) -> int:
    """A whole number from low to high, both included."""
    return low + int(draw() * (high - low + 1))


class _Choices:
    """The compiled ways to write one name: plain text, or text and choices in turn."""

    __slots__ = ("name", "once", "options")

    def __init__(self, name: str, once: bool) -> None:
        self.name = name
        self.once = once
        self.options: list[str | list[str | _Choices]] = []


class Grammar:
    """Compiled names. `Grammar(names)` raises ValueError where an option uses a name that is not in the table."""

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        self._names = names
        self._compiled: dict[str, _Choices] = {}

    def write(self, name: str, draw: Draw, page: dict[str, str] | None = None) -> str:
        """One way to write `name`. `page` holds what is drawn once a page; pass the same dictionary again."""
        written: list[str] = []
        _write(self._choices(name), draw, {} if page is None else page, written)
        return "".join(written)

    def ways(self, name: str) -> Sequence[str]:
        """The ways to write `name`, as they stand in the table."""
        return self._names[name]

    def _choices(self, slot: str) -> _Choices:
        if slot in self._compiled:
            return self._compiled[slot]
        name = slot.removeprefix("@")
        if name not in self._names:
            raise ValueError(unknown_name("name in a grammar", name, self._names))
        choices = self._compiled[slot] = _Choices(name, once=slot != name)
        choices.options = [self._compile(option) for option in self._names[name]]
        return choices

    def _compile(self, option: str) -> str | list[str | _Choices]:
        pieces = _SLOT.split(option)
        if len(pieces) == 1:
            return option
        slots = (self._choices(piece) if number % 2 else piece for number, piece in enumerate(pieces))
        return [part for part in slots if part != ""]


def _write(choices: _Choices, draw: Draw, page: dict[str, str], written: list[str]) -> None:
    if choices.once and choices.name in page:
        written.append(page[choices.name])
        return
    first = len(written)
    option = choices.options[int(draw() * len(choices.options))]
    if isinstance(option, str):
        written.append(option)
    else:
        for part in option:
            if isinstance(part, str):
                written.append(part)
            else:
                _write(part, draw, page, written)
    if choices.once:
        page[choices.name] = "".join(written[first:])

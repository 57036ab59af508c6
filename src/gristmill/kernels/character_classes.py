"""Which code points are in which class: data/character_classes.txt, read. No numba here, so that anybody may ask."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files


def spans_of_classes() -> Iterator[tuple[str, range]]:
    """Names of classes, and some of their code points; a class has many such spans."""
    for line in files("gristmill.kernels").joinpath("data/character_classes.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, *items = line.split()
        for item in items:
            span, _, step = item.partition("/")
            first, _, last = span.partition("-")
            yield name, range(int(first, 16), int(last or first, 16) + 1, int(step or 1))


def characters_of(name: str) -> frozenset[str]:
    """All characters of a class."""
    return frozenset(chr(code) for of, span in spans_of_classes() if of == name for code in span)

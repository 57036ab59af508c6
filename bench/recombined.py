"""Any amount of text out of the corpora, without plain copies: new documents of real paragraphs.

A document has paragraphs of one corpus, drawn at random, as many as some real document of it has (at most 200), so
languages, line lengths and document lengths are those of the corpora, and two documents share a paragraph now and
then. Every tenth is an earlier one with a sentence more. Always the same documents; the first of many are the few.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import corpora

_MOST_PARAGRAPHS = 200
_RECENT = 1000


def documents(files: Sequence[Path], most_bytes: int) -> Iterator[str]:
    """Texts from the paragraphs of these files, up to so many bytes; each corpus has its share of them."""
    pools = [_paragraphs(file) for file in files]
    weights = [sum(map(len, paragraphs)) for paragraphs, _ in pools]
    rng = random.Random(1)
    recent: list[str] = []
    number = size_bytes = 0
    while size_bytes < most_bytes:
        if number % 10 == 9:
            text = rng.choice(recent) + " And one sentence more."
        else:
            [(paragraphs, lengths)] = rng.choices(pools, weights)
            text = "\n".join(rng.choices(paragraphs, k=rng.choice(lengths)))
            if len(recent) < _RECENT:
                recent.append(text)
            else:
                recent[rng.randrange(_RECENT)] = text
        number += 1
        size_bytes += len(text.encode())
        yield text


def write_files(texts: Iterable[str], folder: Path, files: int) -> tuple[list[Path], int, int]:
    """The documents as JSONL, dealt out to some files as they come: paths, documents, bytes of text."""
    folder.mkdir(parents=True)
    paths = [folder / f"{number:02}.jsonl" for number in range(files)]
    outs = [open(path, "w", encoding="utf-8") for path in paths]  # noqa: SIM115  closed below
    number = size_bytes = 0
    for number, text in enumerate(texts, start=1):
        outs[number % files].write(json.dumps({"id": str(number), "text": text}, ensure_ascii=False) + "\n")
        size_bytes += len(text.encode())
    for out in outs:
        out.close()
    return paths, number, size_bytes


def _paragraphs(file: Path) -> tuple[list[str], list[int]]:
    """All paragraphs of a file's documents, and how many each document has."""
    found: list[str] = []
    lengths: list[int] = []
    for text in corpora.texts(file):
        paragraphs = [line for line in text.split("\n") if line.strip()]
        if paragraphs:
            found += paragraphs
            lengths.append(min(len(paragraphs), _MOST_PARAGRAPHS))
    return found, lengths

"""Ask the judges how they see each character, and write kernels/data/character_classes.txt.

    python tools/make_character_classes.py

Needs spaCy and datatrove (the versions whose decisions Gristmill repeats); neither is needed to run Gristmill.
Nothing is read from their tables where a question will do: a character is in class `prefix` because the blank
English tokenizer strips it, not because a list says so.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import spacy
from datatrove.utils.text import PUNCTUATION_SET, TERMINAL_PUNCTUATION
from spacy.lang import char_classes

TARGET = Path(__file__).parent.parent / "src/gristmill/kernels/data/character_classes.txt"
SURROGATES = range(0xD800, 0xE000)
tokenizer = spacy.blank("en").tokenizer
sentence_ends = spacy.blank("en").add_pipe("sentencizer").punct_chars
line_ends = {chr(code) for code in range(sys.maxunicode) if len(f"a{chr(code)}b".splitlines()) == 2}


def one_of(character_class: str) -> Callable[[str], object]:
    return re.compile(f"[{character_class}]").fullmatch


CLASSES: dict[str, Callable[[str], object]] = {
    "space": str.isspace,
    "prefix": tokenizer.prefix_search,
    "suffix": tokenizer.suffix_search,
    "alpha": one_of(char_classes.ALPHA),
    "lower": one_of(char_classes.ALPHA_LOWER),
    "upper": one_of(char_classes.ALPHA_UPPER),
    "icon": one_of(char_classes.ICONS + "…"),
    "quote": one_of(char_classes.CONCAT_QUOTES),
    "before_full_stop": lambda character: tokenizer.find_suffix(character + ".") == 1,
    "decimal": re.compile(r"\d").fullmatch,
    "word": re.compile(r"\w").fullmatch,
    "letter": str.isalpha,
    "punctuation": lambda character: unicodedata.category(character).startswith("P"),
    "symbol": PUNCTUATION_SET.__contains__,
    "terminal": TERMINAL_PUNCTUATION.__contains__,
    "sentence_end": sentence_ends.__contains__,
    "line_end": line_ends.__contains__,
    "alphanumeric": str.isalnum,
    "digit": str.isdigit,
    "capital": str.isupper,
}


def ranges(belongs: Callable[[str], object]) -> Iterator[str]:
    """The members as `first-last` in hexadecimal, or `first-last/2` where only every second one belongs."""
    members = [c for c in range(sys.maxunicode + 1) if c not in SURROGATES and belongs(chr(c))]
    index = 0
    while index < len(members):
        first = last = members[index]
        step = 2 if members[index + 1 : index + 3] == [first + 2, first + 4] else 1
        while index + 1 < len(members) and members[index + 1] == last + step:
            index, last = index + 1, members[index + 1]
        index += 1
        yield f"{first:X}" if first == last else f"{first:X}-{last:X}" + ("/2" if step == 2 else "")


def lines() -> Iterator[str]:
    yield f"# Character classes as spaCy {version('spacy')}, datatrove {version('datatrove')} and Python with Unicode"
    yield f"# {unicodedata.unidata_version} see them. Made by tools/make_character_classes.py: do not edit, make anew."
    for name, belongs in CLASSES.items():
        line = name
        for item in ranges(belongs):
            if len(line) + 1 + len(item) > 110:
                yield line
                line = name
            line += " " + item
        yield line


if __name__ == "__main__":
    TARGET.write_text("\n".join([*lines(), ""]), encoding="utf-8")

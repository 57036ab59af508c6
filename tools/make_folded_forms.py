"""Ask the judges what each character becomes when texts are compared, and write kernels/data/folded_forms.txt.

    python tools/make_folded_forms.py

`simple` is what datatrove's simplify_text makes of it before MinHash, `plain` what the exact comparison of normal
forms does: lower case; punctuation, white space and controls are gaps; what is not seen (category Cf) goes.
Needs datatrove, as tools/make_character_classes.py does.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import regex
from datatrove.utils.text import simplify_text

TARGET = Path(__file__).parent.parent / "src/gristmill/kernels/data/folded_forms.txt"
SURROGATES = range(0xD800, 0xE000)
HANGUL = range(0xAC00, 0xD7A4)  # what these decompose to is arithmetic, which the reader of the file does
SIGMA = 0x3A3  # its lower case depends on what stands around it
CODES = [code for code in range(sys.maxunicode + 1) if code not in SURROGATES]
is_decimal = regex.compile(r"\p{Nd}").fullmatch


def simple(character: str) -> str:
    return simplify_text(f"a{character}b")[1:-1]


def plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category[0] in "PZ" or category == "Cc" else character.lower()


def is_cased(character: str) -> bool:
    return not is_ignorable(character) and f"{character}Σ".lower()[-1] == "ς"


def is_ignorable(character: str) -> bool:
    """Python skips it when it looks whether a sigma ends a word."""
    return f"{character}Σ".lower()[-1] == "σ" and f"A{character}Σ".lower()[-1] == "ς"


def packed(name: str, items: Iterator[str]) -> Iterator[str]:
    line = name
    for item in items:
        if len(line) + 1 + len(item) > 110:
            yield line
            line = name
        line += " " + item
    yield line


def ranges(belongs: Callable[[int], object]) -> Iterator[str]:
    first, last = None, 0
    for code in [*CODES, sys.maxunicode + 2]:
        inside = code <= sys.maxunicode and belongs(code)
        if inside and first is None:
            first = code
        elif not inside and first is not None:
            yield f"{first:X}" if first == last else f"{first:X}-{last:X}"
            first = None
        last = code


def forms(fold: Callable[[str], str], left_out: Callable[[int], object]) -> Iterator[str]:
    for code in CODES:
        form = fold(chr(code))
        if form not in (chr(code), " ", "") and not left_out(code):
            yield f"{code:X}:" + "+".join(f"{ord(part):X}" for part in form)


def lines() -> Iterator[str]:
    yield f"# What characters become, as datatrove {version('datatrove')} and Python with Unicode"
    yield f"# {unicodedata.unidata_version} see them. Made by tools/make_folded_forms.py: do not edit, make anew."
    yield from packed("cased", ranges(lambda code: is_cased(chr(code))))
    yield from packed("ignorable", ranges(lambda code: is_ignorable(chr(code))))
    decimal = {code for code in CODES if is_decimal(chr(code))}
    for name, fold, left_out in (
        ("simple", simple, lambda code: code in decimal or code in HANGUL or code == SIGMA),
        ("plain", plain, lambda code: code == SIGMA),
    ):
        if name == "simple":
            yield from packed("simple.number", ranges(decimal.__contains__))
        numbers = decimal if name == "simple" else set()
        yield from packed(f"{name}.gap", ranges(lambda code, f=fold, n=numbers: code not in n and f(chr(code)) == " "))
        yield from packed(f"{name}.nothing", ranges(lambda code, f=fold: f(chr(code)) == ""))
        yield from packed(f"{name}.form", forms(fold, left_out))


if __name__ == "__main__":
    TARGET.write_text("\n".join([*lines(), ""]), encoding="utf-8")

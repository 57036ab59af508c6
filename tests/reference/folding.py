"""Slow, obvious twins of kernels/folding.py, written from what datatrove's simplify_text is documented to do."""

from __future__ import annotations

import re
import unicodedata

_PUNCTUATION = "!/—”:％１〈&(、━\\【#%「」，】；+^]~“《„';’{|∶´[=-`*．（–？！：$～«〉,><》)?）。…@_.\"}►»"
_CONTROLS = "".join(map(chr, [*range(9), 11, 12, *range(13, 32), *range(127, 160)]))
_NUMBER = re.compile(r"\d+([.,،٫⎖⎗⎘]\d+)?")


def simple(text: str) -> str:
    text = _NUMBER.sub("0", text.lower())
    text = "".join(" " if character in _PUNCTUATION + _CONTROLS else character for character in text)
    text = " ".join(text.split())
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn").strip()


def plain(text: str) -> str:
    folded = ""
    for character in text.lower():
        category = unicodedata.category(character)
        if category != "Cf":
            folded += " " if category[0] in "PZ" or category == "Cc" else character
    return re.sub(" +", " ", folded).strip(" ")

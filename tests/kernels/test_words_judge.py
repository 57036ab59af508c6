"""The word splitter and its tables against spaCy itself, where it is installed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from test_words import words_of
from word_texts import texts

from gristmill.kernels.characters import CHARACTERS, LETTER, SUFFIX
from gristmill.kernels.words_exceptions import EXCEPTIONS, UNITS

spacy = pytest.importorskip("spacy", reason="spaCy, the judge, is not installed; Gristmill runs without it")
ORTH = 65
tokenizer = spacy.blank("en").tokenizer


def test_exceptions_are_spacys() -> None:
    theirs = {text: tuple(piece[ORTH] for piece in pieces) for text, pieces in tokenizer.rules.items() if text.strip()}
    assert theirs == EXCEPTIONS


def test_units_are_spacys() -> None:
    from spacy.lang import char_classes

    assert {*char_classes.UNITS.split("|"), *char_classes.CURRENCY.replace("\\", "").split("|"), "+"} == UNITS


def test_characters_are_spacys() -> None:
    table = CHARACTERS[0]
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) in ("Cn", "Cs"):  # assigned in a later Unicode, or no character
            continue
        classes = table["classes"][(int(table["block"][code >> 6]) << 6) + (code & 63)]
        assert bool(classes & SUFFIX) == (tokenizer.find_suffix(character) == 1), hex(code)
        assert bool(classes & LETTER) == character.isalpha(), hex(code)


@settings(max_examples=1000)
@given(texts)
def test_splits_as_spacy(text: str) -> None:
    assert words_of([text])[0] == [token.text for token in tokenizer(text) if not token.is_space]

"""The texts of the demo read like text, and each plant is what its kind says."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from statistics import median

import pytest
from demo_rows import Written

from gristmill.demo.language import language

VIETNAMESE_LETTERS = set("ăâđêôơưàảãáạằẳẵắặầẩẫấậèẻẽéẹềểễếệìỉĩíịòỏõóọồổỗốộờởỡớợùủũúụừửữứựỳỷỹýỵ")


def english(demo: Written) -> list[str]:
    return [text for row, text in demo.plain.items() if row.startswith("web-en")]


def vietnamese(demo: Written) -> list[str]:
    return [text for row, text in demo.plain.items() if row.startswith("web-vi")]


def spam_phrases(name: str) -> tuple[str, ...]:
    return tuple(language(name).topics[0].ways("spam_phrase"))


def fives(text: str) -> Counter[tuple[str, ...]]:
    words = text.split()
    return Counter(zip(*(words[start:] for start in range(5)), strict=False))


def test_lengths_have_a_long_tail(demo: Written) -> None:
    words = sorted(len(text.split()) for text in demo.plain.values())
    assert words[len(words) // 20] < 80
    assert 200 < median(words) < 400
    assert words[-len(words) // 100] > 1500
    assert 4000 < words[-1] < 7000


def test_nothing_of_the_grammar_is_left_in_a_text(demo: Written) -> None:
    for text in demo.plain.values():
        assert not re.search(r"[{}]|  | [.,;?!]|\.\.|,,|\n ", text)
        assert unicodedata.is_normalized("NFC", text)


def test_paragraphs_are_sentences(demo: Written) -> None:
    for text in demo.plain.values():
        paragraph = text.split("\n")[-1]
        assert paragraph[-1] in ".?"
        for sentence in re.split(r"(?<=[.?]) ", paragraph):
            assert sentence[0].isupper() or sentence[0].isdigit() or sentence[0] == "“"


def test_english_articles_and_plurals_are_right(demo: Written) -> None:
    for text in english(demo):
        assert text.isascii() or set(text) - set(map(chr, range(128))) <= set("“”")
        assert not re.search(r"\b[Aa] [aeioAEIO]|\b[Aa]n [^aeioAEIO]|(ch|sh|[^aeiou]y|x)s\b", text)


def test_vietnamese_has_its_letters(demo: Written) -> None:
    for text in vietnamese(demo):
        letters = [letter for letter in text.lower() if letter.isalpha()]
        assert sum(letter in VIETNAMESE_LETTERS for letter in letters) > len(letters) / 5
        assert set(letters) <= VIETNAMESE_LETTERS | set("abcdefghijklmnopqrstuvwxyz")


def test_the_encyclopedia_is_in_both_languages(demo: Written) -> None:
    articles = [text for row, text in demo.plain.items() if row.startswith("encyclopedia")]
    in_vietnamese = sum(bool(VIETNAMESE_LETTERS & set(text)) for text in articles)
    assert 0.2 < in_vietnamese / len(articles) < 0.5


@pytest.mark.parametrize(("name", "source"), [("english", "web-en"), ("vietnamese", "web-vi")])
def test_spam_and_only_spam_holds_a_phrase(demo: Written, name: str, source: str) -> None:
    phrases = spam_phrases(name)
    spam = [row for row in demo.corpus.planted["spam"] if row.startswith(source)]
    assert len(phrases) > 20
    assert all(any(phrase in demo.texts[row].lower() for phrase in phrases) for row in spam)
    assert not [row for row, text in demo.plain.items() if any(phrase in text.lower() for phrase in phrases)]


def test_stubs_are_short_and_nothing_else_is(demo: Written) -> None:
    stubs = set(demo.corpus.planted["too_short"])
    assert all(0 < len(demo.texts[row]) < 100 for row in stubs)
    assert all(len(text) > 100 for row, text in demo.texts.items() if isinstance(text, str) and row not in stubs)


def test_repetition_repeats_and_plain_pages_do_not(demo: Written) -> None:
    def new(text: str) -> float:
        counts = fives(text)
        return len(counts) / counts.total()

    assert all(new(demo.texts[row]) < 0.55 for row in demo.corpus.planted["repetition"])
    assert all(new(text) > 0.8 for text in list(demo.plain.values())[::5])


def test_boilerplate_is_short_lines(demo: Written) -> None:
    for row in demo.corpus.planted["boilerplate"]:
        lines = demo.texts[row].split("\n")
        assert len(lines) > 10
        assert median(map(len, lines)) < 25

"""What a crawl is full of and training data should not be: enters a page or nothing, leaves a text to find.

Damage is written with surrogates, as in `str.encode(errors="surrogateescape")`: U+DC80 to U+DCFF stand for the
bytes 80 to FF; any other surrogate stands for itself, alone, in a JSON escape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gristmill.demo.grammar import Draw, between, choose
from gristmill.demo.language import Language
from gristmill.demo.pages import web_page

_SPACES = (" ", "  ", "\n", "\n\n", "\t", " \n ", "\r\n", "\u00a0", "\u3000")
_BROKEN_UTF8 = (
    "\udcff",  # never a byte of UTF-8
    "\udcc3",  # a sequence that breaks off
    "\udce2\udc80",
    "\udcc0\udcaf",  # a longer form than needed
    "\udced\udca0\udcbd",  # a surrogate
)
_LONE_SURROGATES = ("\ud83d", "\udc4d")
_NUL = ("\x00",)
_LONGEST_STUB = 96


def spam(language: Language, draw: Draw) -> str:
    """Advertisements; each of them holds at least one of the phrases."""
    topic = language.topic(draw)
    return _lines([topic.write("spam", draw) for _ in range(between(3, 9, draw))], language)


def boilerplate(language: Language, draw: Draw) -> str:
    """Menus, notices and footers, and nothing between them."""
    topic = language.topic(draw)
    page = {"host": topic.write("host", draw).lower()}
    menu = [topic.write("menu", draw) for _ in range(between(8, 30, draw))]
    notices = [topic.write("boilerplate", draw, page) for _ in range(between(2, 5, draw))]
    return _lines([*menu, *notices, f"{menu[0]} | {page['host']}"], language)


def repetition(language: Language, draw: Draw) -> str:
    """One line, one paragraph or one phrase, again and again, after a few words of sense."""
    topic = language.topic(draw)
    opening = web_page(language, 25, draw)
    line = topic.write("sentence", draw)
    again = choose(
        (
            "\n".join([line] * between(12, 60, draw)),
            "\n\n".join([web_page(language, 60, draw)] * between(4, 9, draw)),
            " ".join([" ".join(line.split()[:5])] * between(40, 160, draw)),
        ),
        draw,
    )
    return language.corrected(f"{opening}\n\n{again}")


def too_short(language: Language, draw: Draw) -> str:
    """Less than a hundred characters."""
    topic = language.topic(draw)
    stubs = [topic.write("stub", draw) for _ in range(between(2, 3, draw))]
    return _lines([" | ".join(stubs)], language)[:_LONGEST_STUB].rstrip()


def identical(text: str, language: Language, draw: Draw) -> str:
    """The text."""
    return text


def spaced(text: str, language: Language, draw: Draw) -> str:
    """The text, with other white space around it."""
    return choose(_SPACES, draw) + text + choose(_SPACES, draw)


def dirty(text: str, language: Language, draw: Draw) -> str:
    """The text, with damage in it that cleaning takes away."""
    return _damaged(text, _BROKEN_UTF8 + _LONE_SURROGATES + _NUL, draw)


def near_duplicate(text: str, language: Language, draw: Draw) -> str:
    """The text with two words changed, and one more for each further hundred words."""
    words = text.split(" ")
    for _ in range(2 + len(words) // 100):
        place = between(1, len(words) - 1, draw)
        while not words[place].isalpha():
            place = (place + 1) % len(words)
        words[place] = language.topic(draw).write("word", draw)
    return " ".join(words)


def invalid_utf8(text: str, draw: Draw) -> str:
    """The text, with bytes that are no UTF-8."""
    return _damaged(text, _BROKEN_UTF8, draw)


def lone_surrogate(text: str, draw: Draw) -> str:
    """The text, with halves of characters."""
    return _damaged(text, _LONE_SURROGATES, draw)


def nul(text: str, draw: Draw) -> str:
    """The text, with NUL characters."""
    return _damaged(text, _NUL, draw)


def _damaged(text: str, damage: tuple[str, ...], draw: Draw) -> str:
    """Damage goes before a space, so that it can neither complete a sequence nor be completed."""
    words = text.split(" ")
    for _ in range(between(1, 4, draw)):
        words[between(0, len(words) - 2, draw)] += choose(damage, draw)
    return " ".join(words)


def _lines(lines: list[str], language: Language) -> str:
    return language.corrected("\n".join(line[0].upper() + line[1:] for line in lines))


# What is planted, by kind. Pages stand alone; copies have an original; damaged pages are kept once they are clean.
PAGES: Mapping[str, Callable[[Language, Draw], str]] = {
    "spam": spam,
    "boilerplate": boilerplate,
    "repetition": repetition,
    "too_short": too_short,
}
COPIES: Mapping[str, Callable[[str, Language, Draw], str]] = {
    "duplicate_identical": identical,
    "duplicate_spaced": spaced,
    "duplicate_dirty": dirty,
    "near_duplicate": near_duplicate,
}
DAMAGED: Mapping[str, Callable[[str, Draw], str]] = {
    "invalid_utf8": invalid_utf8,
    "lone_surrogate": lone_surrogate,
    "nul": nul,
}
EXACT_DUPLICATES = ("duplicate_identical", "duplicate_spaced", "duplicate_dirty")

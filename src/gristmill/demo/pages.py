"""What a crawl is after: web pages and encyclopedia articles. Enters a language and random draws, leaves a text."""

from __future__ import annotations

from gristmill.demo.grammar import Draw, Grammar, between, choose
from gristmill.demo.language import Language

# Lengths have a long tail: of a hundred texts so many have from .. to words.
LENGTHS = ((8, 30, 70), (22, 70, 180), (36, 180, 400), (25, 400, 800), (8, 800, 1800), (1, 1800, 6000))
_LENGTH_OF_EACH_PERCENT = tuple((low, high) for percent, low, high in LENGTHS for _ in range(percent))

_WORDS_ON_ONE_TOPIC = 220
_SENTENCES_IN_A_PARAGRAPH = (2, 6)


def length_in_words(draw: Draw) -> int:
    """How long a text is to be, by LENGTHS."""
    return between(*choose(_LENGTH_OF_EACH_PERCENT, draw), draw)


def web_page(language: Language, words: int, draw: Draw) -> str:
    """Title, mostly a byline, paragraphs; a heading where a long page turns to something else."""
    page: dict[str, str] = {}
    topic = language.topic(draw)
    lines = [_capital(topic.write("title", draw, page))]
    if draw() < 0.7:
        lines.append(_capital(topic.write("byline", draw, page)))
    while (missing_words := words - _count_words(lines)) > 0:
        if len(lines) > 2:
            topic = language.topic(draw)
            if draw() < 0.5:
                lines.append(_capital(topic.write("heading", draw, page)))
        lines += _paragraphs(topic, ("sentence",), min(missing_words, _WORDS_ON_ONE_TOPIC), draw, page)
    return language.corrected("\n".join(lines))


def article(language: Language, words: int, draw: Draw) -> str:
    """A name, a definition, and sections that come back to the name now and then."""
    page: dict[str, str] = {}
    topic = language.topic(draw)
    definition = _capital(topic.write("subject", draw, page))
    blocks = [_capital(topic.write("lead_title", draw, page)), definition]
    kinds = ("sentence",) * 5 + ("about",)
    while (missing_words := words - _count_words(blocks)) > 0:
        if len(blocks) > 2:
            topic = language.topic(draw)
            blocks.append(topic.write("section", draw))
        blocks += _paragraphs(topic, kinds, min(missing_words, _WORDS_ON_ONE_TOPIC), draw, page)
    return language.corrected("\n\n".join(blocks))


def _paragraphs(topic: Grammar, kinds: tuple[str, ...], words: int, draw: Draw, page: dict[str, str]) -> list[str]:
    paragraphs: list[str] = []
    while words > 0:
        sentences: list[str] = []
        for _ in range(between(*_SENTENCES_IN_A_PARAGRAPH, draw)):
            sentences.append(_capital(topic.write(choose(kinds, draw), draw, page)))
            words -= sentences[-1].count(" ") + 1
            if words <= 0:
                break
        paragraphs.append(" ".join(sentences))
    return paragraphs


def _count_words(blocks: list[str]) -> int:
    return sum(block.count(" ") + 1 for block in blocks)


def _capital(sentence: str) -> str:
    first = 1 if sentence[0] == "“" else 0
    return sentence[:first] + sentence[first].upper() + sentence[first + 1 :]

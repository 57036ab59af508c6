"""Slow, obvious twin of kernels/c4_lines.py."""

from __future__ import annotations

import re
from typing import NamedTuple

from reference.words import DECIMAL

CITATION = re.compile(rf"\[({DECIMAL}*|edit|citation needed)\]")
POLICIES = re.compile("terms of use|(privacy|cookie) policy|(uses|use of|use) cookies")


class Found(NamedTuple):
    kept: list[str]
    lorem_ipsum: int
    curly: int
    curly_first: bool


def keep_lines(
    lines: list[str],
    max_word_characters: int,
    min_words: int,
    remove_citations: bool,
    require_terminal_mark: bool,
    drop_javascript: bool,
    drop_policy: bool,
) -> Found:
    kept = []
    lorem_ipsum: list[int] = []
    curly: list[int] = []
    for number, whole in enumerate(lines):
        words = whole.split()
        line = CITATION.sub("", whole.strip()) if remove_citations else whole.strip()
        small = line.lower()
        if require_terminal_mark and (line[-1:] not in [*".?!\"'"] or line[-3:] == "..."):
            continue
        if len(words) < min_words or any(len(word) > max_word_characters for word in words):
            continue
        if "lorem ipsum" in small:
            lorem_ipsum.append(number)
        if drop_javascript and "javascript" in small:
            continue
        if "{" in line:
            curly.append(number)
        if not (drop_policy and POLICIES.search(small)):
            kept.append(line)
    first = bool(curly) and (not lorem_ipsum or curly[0] < lorem_ipsum[0])
    return Found(kept, len(lorem_ipsum), len(curly), first)


def join_lines(kept: list[str], separator: str) -> str:
    return separator.join(kept).strip()


def count_lines(
    documents: list[list[str]],
    max_word_characters: int,
    min_words: int,
    remove_citations: bool,
    require_terminal_mark: bool,
    drop_javascript: bool,
    drop_policy: bool,
    ends_by_lorem_ipsum: bool,
    ends_by_curly_bracket: bool,
) -> dict[str, int]:
    """datatrove's counts, in datatrove's order."""
    counts = dict.fromkeys(
        ["total", "filter-too_long_word", "filter-no_terminal_punc", "filter-too_few_words", "filter-javascript",
         "filter-policy", "kept"], 0)  # fmt: skip
    for lines in documents:
        for whole in lines:
            counts["total"] += 1
            words = whole.split()
            line = CITATION.sub("", whole.strip()) if remove_citations else whole.strip()
            small = line.lower()
            if any(len(word) > max_word_characters for word in words):
                counts["filter-too_long_word"] += 1
            elif require_terminal_mark and (line[-1:] not in [*".?!\"'"] or line[-3:] == "..."):
                counts["filter-no_terminal_punc"] += 1
            elif len(words) < min_words:
                counts["filter-too_few_words"] += 1
            elif ends_by_lorem_ipsum and "lorem ipsum" in small:
                break
            elif drop_javascript and "javascript" in small:
                counts["filter-javascript"] += 1
            elif ends_by_curly_bracket and "{" in line:
                break
            elif drop_policy and POLICIES.search(small):
                counts["filter-policy"] += 1
            else:
                counts["kept"] += 1
    return {f"line-{name}": count for name, count in counts.items()}

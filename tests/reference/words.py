"""Slow, obvious twin of kernels/words.py: spaCy's blank English tokenizer, written with regular expressions."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import gristmill.kernels
from gristmill.kernels.words_exceptions import EXCEPTIONS, UNITS


def _character_classes() -> dict[str, str]:
    """Class name -> what stands for it between the brackets of a regular expression."""
    classes: dict[str, str] = {}
    table = Path(gristmill.kernels.__file__).parent / "data/character_classes.txt"
    for line in table.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, *items = line.split()
        for item in items:
            span, _, step = item.partition("/")
            first, last = int(span.split("-")[0], 16), int(span.split("-")[-1], 16)
            if step:
                characters = "".join(re.escape(chr(code)) for code in range(first, last + 1, int(step)))
            else:
                characters = f"{re.escape(chr(first))}-{re.escape(chr(last))}"
            classes[name] = classes.get(name, "") + characters
    return classes


CLASSES = _character_classes()
ALPHA, LOWER, UPPER, QUOTE = (CLASSES[name] for name in ("alpha", "lower", "upper", "quote"))
DECIMAL, WORD = f"[{CLASSES['decimal']}]", f"[{CLASSES['word']}+\\-.]"
PREFIX = re.compile(rf"\.\.+|\+(?![0-9])|US\$|[AC]\$|(?!\+)[{CLASSES['prefix']}]")
UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS))
SUFFIX = re.compile(
    rf"\.\.+$|……$|['’][sS]$|(?<=[0-9])(?:{UNIT})$|[{CLASSES['suffix']}]$"
    rf"|(?<=[{CLASSES['before_full_stop']}])\.$|(?<=[{UPPER}][{UPPER}])\.$|(?<=°[FCK])\.$"
)
INFIX = re.compile(
    rf"\.\.+|[{CLASSES['icon']}]|(?<=[0-9])[-+*^](?=[0-9-])|(?<=[{LOWER}{QUOTE}])\.(?=[{UPPER}{QUOTE}])"
    rf"|(?<=[{ALPHA}]),(?=[{ALPHA}])|(?<=[{ALPHA}0-9])(?:[-–—~:<>=/]|--|---|——)(?=[{ALPHA}])"
)
HOST = r"A-Za-z0-9\u00a1-\uffff"
PRIVATE = (
    rf"(?:10|127)(?:\.{DECIMAL}+){{3}}|(?:169\.254|192\.168|172\.(?:1[6-9]|2{DECIMAL}|3[01]))(?:\.{DECIMAL}+){{2}}"
)
UP_TO_199 = rf"[1-9]{DECIMAL}?|1{DECIMAL}{DECIMAL}"
URL = re.compile(
    rf"(?:{WORD}{{2,}}://)?(?:\S+@)?"
    rf"(?:(?!{PRIVATE})(?:{UP_TO_199}|2[01]{DECIMAL}|22[0-3])"
    rf"(?:\.(?:{DECIMAL}{DECIMAL}?|1{DECIMAL}{DECIMAL}|2[0-4]{DECIMAL}|25[0-5])){{2}}"
    rf"\.(?:{UP_TO_199}|2[0-4]{DECIMAL}|25[0-4])"
    rf"|(?:(?:[{HOST}][{HOST}_-]{{0,62}})?[{HOST}]\.)+[{LOWER}]{{2,63}})"
    rf"(?::{DECIMAL}{{2,5}})?(?:[/?#]\S*)?"
)


def split_into_words(text: str) -> list[str]:
    words = []
    for run in re.split("  +|(?! )\\s+", text):
        words += _join([(token, index) for index, chunk in enumerate(run.split()) for token in cut(chunk, EXCEPTIONS)])
    return words


def cut(chunk: str, exceptions: dict[str, tuple[str, ...]]) -> list[str]:
    """First pass: the tokens of one chunk."""
    prefixes: list[str] = []
    suffixes: list[str] = []
    while chunk and chunk not in exceptions:
        found = PREFIX.match(chunk)
        prefix = found[0] if found else ""
        if chunk[len(prefix) :] in exceptions:
            prefixes.append(prefix)
            chunk = chunk[len(prefix) :]
            break
        found = SUFFIX.search(chunk[len(prefix) :])
        suffix = found[0] if found else ""
        if suffix and chunk[: -len(suffix)] in exceptions:
            suffixes.append(suffix)
            chunk = chunk[: -len(suffix)]
            break
        if not prefix and not suffix:
            break
        prefixes.append(prefix)
        suffixes.append(suffix)
        chunk = chunk[len(prefix) : len(chunk) - len(suffix)]
    if chunk in exceptions:
        middle = list(exceptions[chunk])
    elif URL.fullmatch(chunk):
        middle = [chunk]
    else:
        middle, start = [], 0
        for infix in INFIX.finditer(chunk):
            if infix.start() > 0:
                middle += [chunk[start : infix.start()], infix[0]]
                start = infix.end()
        middle.append(chunk[start:])
    return [token for token in (*prefixes, *middle, *reversed(suffixes)) if token]


@cache
def _sequences() -> dict[tuple[str, ...], tuple[str, ...]]:
    """What the rule alone makes of an exception -> what the exception is to be cut into."""
    return {tuple(cut(text, {})): pieces for text, pieces in EXCEPTIONS.items() if len(cut(text, {})) > 1}


def _join(tokens: list[tuple[str, int]]) -> list[str]:
    """Second pass: tokens in a row (each with the number of its chunk) that look like an exception, the longest
    first. A find that reaches over a blank changes nothing, but it bars others; so does one that was barred."""
    longest = max(map(len, _sequences()))
    taken: set[int] = set()
    replaced: dict[int, tuple[int, tuple[str, ...]]] = {}
    for length in range(longest, 1, -1):
        for start in range(len(tokens) - length + 1):
            stop = start + length
            pieces = _sequences().get(tuple(token for token, _ in tokens[start:stop]))
            if pieces is None:
                continue
            if start not in taken and stop - 1 not in taken and tokens[start][1] == tokens[stop - 1][1]:
                replaced[start] = stop, pieces
            taken.update(range(start, stop))
    words: list[str] = []
    at = 0
    while at < len(tokens):
        at, pieces = replaced.get(at, (at + 1, (tokens[at][0],)))
        words += pieces
    return words

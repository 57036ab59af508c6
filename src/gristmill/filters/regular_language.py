"""Python's regular expressions as RE2 ones, where it is provable that both occur in the same texts.

What enters: a pattern of Python's `re`. What leaves: one of RE2's, or None. RE2 (in Arrow) takes a column at a time and
never backtracks, but it reads patterns differently and knows less of Unicode. So Python's own parser reads the pattern,
and what RE2 gets is written anew from the tree, where every node of it is one that describes a regular language over
code points: characters, sets and ranges of them, `.` (anything but a newline, for both), sequences, alternatives,
groups, repetitions, and the text's beginning. Whether such a pattern occurs in a text is a question of the language
alone, so greedy and lazy repetitions are one, and the order of alternatives does not matter.

None is for all the rest: flags (RE2 folds case by other rules), \\d \\w \\s \\b (ASCII in RE2), $ (before a last
newline, in Python), look-around, references to groups, atomic groups, and what RE2 refuses (more than 1,000
repetitions).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

if sys.version_info >= (3, 11):
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_parse as parser


class _NotRegular(Exception):  # noqa: N818  # no error: an answer
    """Of no use to RE2."""


def as_re2(pattern: str) -> str | None:
    """The same language for RE2, or None. Raises re.error for what is no pattern at all."""
    if re.compile(pattern).flags != re.UNICODE:
        return None
    try:
        written = _sequence(parser.parse(pattern))
        pc.match_substring_regex(pa.array([""]), written)
    except (_NotRegular, pa.ArrowInvalid):
        return None
    return written


def _sequence(tree: Any) -> str:
    return "".join(_node(str(operation), argument) for operation, argument in tree)


def _node(operation: str, argument: Any) -> str:
    if operation in ("MAX_REPEAT", "MIN_REPEAT"):
        return _repeat(*argument)
    if operation == "SUBPATTERN":
        _, added_flags, removed_flags, inner = argument
        if added_flags or removed_flags:
            raise _NotRegular
        return f"(?:{_sequence(inner)})"
    if operation == "BRANCH":
        return f"(?:{'|'.join(_sequence(branch) for branch in argument[1])})"
    if operation == "AT" and str(argument) in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
        return r"\A"
    if operation not in _CHARACTERS:
        raise _NotRegular
    return _CHARACTERS[operation](argument)


def _repeat(least: int, most: Any, inner: Any) -> str:
    unbounded = str(most) == "MAXREPEAT"
    body = f"(?:{_sequence(inner)})"
    if (least, unbounded) in ((0, True), (1, True)):
        return body + ("+" if least else "*")
    return f"{body}{{{least},{'' if unbounded else most}}}"


def _one(code: int) -> str:
    if 0xD800 <= code < 0xE000:
        raise _NotRegular  # in no text, and RE2 refuses it
    return f"\\x{{{code:X}}}"


def _set(items: list[tuple[Any, Any]]) -> str:
    written = []
    for operation, argument in items:
        if str(operation) == "NEGATE":
            written.append("^")
        elif str(operation) == "LITERAL":
            written.append(_one(argument))
        elif str(operation) == "RANGE":
            written.append(f"{_one(argument[0])}-{_one(argument[1])}")
        else:
            raise _NotRegular
    return f"[{''.join(written)}]"


_CHARACTERS: dict[str, Callable[[Any], str]] = {
    "LITERAL": _one,
    "NOT_LITERAL": lambda code: f"[^{_one(code)}]",
    "ANY": lambda _: r"[^\n]",
    "IN": _set,
}

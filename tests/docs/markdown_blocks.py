"""A page's fenced blocks and links, in order. A block is run unless a line above it says, to the reader too, why not:

*Not run by the tests: it needs a cluster.*
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]

_FENCE = re.compile(r"^( *)(`{3,}|~{3,}) *([\w-]*)")
_NOT_RUN = re.compile(r"^\*Not run by the tests: (.+)\*$")
_LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]*(?:\([^()]*\))?[^()\s]*)\)")


@dataclass(frozen=True)
class Block:
    """What stands in one fence: its language, text, first line's number, and why it is not run, if it is not."""

    language: str
    text: str
    line: int
    not_run: str | None

    @property
    def file_name(self) -> str | None:
        """The file that the block is, where its first line is a comment that names one: `# recipe.yaml`."""
        found = re.match(r"# ([\w./-]+\.(?:yaml|py))$", self.text.split("\n", 1)[0])
        return found.group(1) if found else None


def blocks(markdown: str) -> Iterator[Block]:
    """The fenced blocks."""
    lines = markdown.split("\n")
    number, reason = 0, None
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        if fence is None:
            if lines[number].strip():
                said = _NOT_RUN.match(lines[number].strip())
                reason = said.group(1) if said else None
            number += 1
            continue
        indent, marks, language = fence.groups()
        end = next(n for n in range(number + 1, len(lines)) if lines[n].strip() == marks)
        text = "\n".join(line.removeprefix(indent) for line in lines[number + 1 : end])
        yield Block(language, text, number + 2, reason)
        number, reason = end + 1, None


def prose(markdown: str) -> str:
    """The page without its fenced blocks and without code in lines."""
    return "\n".join(re.sub(r"`[^`]*`", "`code`", line) for line in _lines_outside_fences(markdown))


def _lines_outside_fences(markdown: str) -> Iterator[str]:
    inside = ""
    for line in markdown.split("\n"):
        fence = _FENCE.match(line)
        if fence and not inside:
            inside = fence.group(2)
        elif inside and line.strip() == inside:
            inside = ""
        elif not inside:
            yield line


def links(markdown: str) -> list[str]:
    """Where the page's links lead."""
    return _LINK.findall(prose(markdown))


def named_commands(markdown: str) -> list[str]:
    """Commands of ours that are named in a line, `gristmill run --check`, as a rule without all that they need."""
    return re.findall(r"`(gristmill [a-z][^`]*)`", "\n".join(_lines_outside_fences(markdown)))


def set_in_commands(markdown: str) -> list[str]:
    """Commands of ours that stand in indented blocks, where nobody runs them: they should stand in fences."""
    return [line.strip() for line in prose(markdown).split("\n") if re.match(r" {4,}(python -m )?gristmill ", line)]

"""The report as one page that opens from disk: evidence, script and style in a single file, no network, no library.

What enters: evidence (see evidence/). What leaves: HTML. What is guaranteed: nothing of the evidence is read as markup.
It stands in the page as JSON in which `<` does not occur, and the script makes text nodes of it.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from gristmill.formats.files import atomic_file
from gristmill.report.evidence import gather

NAME = "report.html"
_SCRIPTS = ("dom", "charts", "overview", "rules", "samples", "rows", "compare", "main")


def write_report(output: Path, path: Path | None = None, name: str | None = None) -> Path:
    """Gather the evidence of a run and write its page, beside it if no path is given; returns where. The run is called
    `name`, by default as its folder."""
    path = output / NAME if path is None else path
    evidence = gather(output)
    evidence["name"] = name or evidence["name"]
    write_page(path, f"{evidence['name']} · Gristmill", evidence)
    return path


def write_page(path: Path, title: str, evidence: Mapping[str, Any]) -> None:
    """Write the page, whole or not at all."""
    with atomic_file(path) as file:
        file.write(page(title, evidence).encode())


def page(title: str, evidence: Mapping[str, Any]) -> str:
    """The page as text."""
    before_title, after_title, after_style, after_evidence, after_script = _frame()
    script = "\n".join(_part(f"{name}.js") for name in _SCRIPTS)
    parts = [
        before_title, html.escape(title), after_title, _part("page.css"), after_style, _as_script_data(evidence),
        after_evidence, '"use strict";\n(() => {\n', script, "})();\n", after_script,
    ]  # fmt: skip
    return "".join(parts)


def _frame() -> list[str]:
    """The page between its four holes."""
    rest = _part("page.html")
    parts = []
    for hole in ("title", "style", "evidence", "script"):
        part, rest = rest.split("{{" + hole + "}}")
        parts.append(part)
    return [*parts, rest]


def _as_script_data(evidence: Mapping[str, Any]) -> str:
    """JSON that may stand in a script element: with no `<` in it, nothing ends that element or opens a comment."""
    text = json.dumps(evidence, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@lru_cache
def _part(name: str) -> str:
    return (files("gristmill.report") / "page" / name).read_text("utf-8")

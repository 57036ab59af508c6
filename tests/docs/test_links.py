"""Links of the README and the guide lead somewhere: those within the house strictly, others by their form."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from markdown_blocks import PAGES, ROOT, links, prose

OTHERS = [ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md")]


def anchors(markdown: str) -> set[str]:
    """The anchors of the page's headings, as GitHub and Python-Markdown make them of plain words."""
    titles = re.findall(r"^#+ (.+?)(?: \{#([\w-]+)\})?$", prose(markdown), re.M)
    return {mark or re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title, mark in titles}


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page.read_text("utf-8")):
        parts = urlsplit(link)
        if parts.scheme:
            assert parts.scheme in ("https", "http", "mailto"), link
            assert parts.scheme == "mailto" or re.fullmatch(r"[\w.-]+\.[a-z]{2,}(:\d+)?", parts.netloc), link
            continue
        target = page if not parts.path else page.parent / parts.path
        assert target.exists(), f"{page.name}: {link}"
        if parts.fragment and target.suffix == ".md":
            known = anchors(target.read_text("utf-8"))
            assert parts.fragment in known, f"{page.name}: {link}; anchors: {', '.join(sorted(known))}"

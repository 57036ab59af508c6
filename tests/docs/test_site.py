"""The guide builds as a site, strictly and without a network; every page can be reached from its navigation."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from markdown_blocks import DOCS, ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, env={"NO_MKDOCS_2_WARNING": "1", "HTTPS_PROXY": "http://127.0.0.1:9"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_built(site: Path) -> None:
    for page in DOCS.glob("*.md"):
        name = "index.html" if page.stem == "index" else f"{page.stem}/index.html"
        assert "</html>" in (site / name).read_text("utf-8")


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    """No font, script, style or picture of another host: the site works from a disk."""
    for page in site.rglob("*.html"):
        for tag in re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*>", page.read_text("utf-8")):
            if 'rel="canonical"' not in tag:
                assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", tag), f"{page.name}: {tag}"


def test_every_page_is_in_the_navigation() -> None:
    def pages(part: object) -> list[str]:
        if isinstance(part, dict):
            return [page for inner in part.values() for page in pages(inner)]
        return [page for inner in part for page in pages(inner)] if isinstance(part, list) else [str(part)]

    listed = pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"])
    assert all((DOCS / page).is_file() for page in listed), "a page in the nav of mkdocs.yml that is not there"
    for page in DOCS.glob("*.md"):
        assert listed.count(page.name) == 1, f"expected docs/{page.name} once in the nav of mkdocs.yml"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from gristmill.cleaning import html
from gristmill.cleaning.html import Html
from gristmill.errors import RecipeError, TaskError
from gristmill.recipe import Recipe
from reference.reading import read_path

trafilatura = pytest.importorskip("trafilatura")
SENTENCE = "The mill stands at the river, and the miller grinds the grain of the whole valley from Monday to Saturday. "
PARAGRAPHS = "".join(f"<p>{number}: {SENTENCE * 3}</p>" for number in range(5))
PAGE = f"<html><body><nav>Home | About</nav><article>{PARAGRAPHS}</article><footer>(c)</footer></body></html>"


@pytest.fixture(autouse=True)
def begin_anew() -> Iterator[None]:
    html._extractor.cache_clear()
    yield
    html._extractor.cache_clear()


def attempt(unit: Html, *texts: str) -> tuple[list[str], list[str | None]]:
    cleaned, reasons = unit.attempt(pa.array(texts, pa.large_string()))
    assert cleaned.type == pa.large_string()
    return cleaned.to_pylist(), reasons.to_pylist()


def test_text_and_reasons() -> None:
    texts, reasons = attempt(Html(), PAGE, "", "<html></html>", "no markup", PAGE)
    assert texts[0].startswith("0: The mill") and texts[0].endswith("Saturday.")
    assert "Home" not in texts[0]
    assert texts[1:] == ["", "", "", texts[0]]
    assert reasons == [None, "html.nothing", "html.nothing", "html.nothing", None]


def test_a_page_does_not_depend_on_those_before() -> None:
    """Trafilatura by itself drops a paragraph that it has met in three pages."""
    texts, _ = attempt(Html(), *[PAGE] * 8)
    assert len(set(texts)) == 1


def test_each_parameter_reaches_trafilatura() -> None:
    page = PAGE.replace(
        "</article>", "<table><tr><td>A cell</td></tr></table><p>See <a href='/x'>there</a>.</p></article>"
    )
    page = page.replace("</article>", f"<p>Again {SENTENCE * 3}</p>" * 9 + "</article>")
    expected: dict[str, dict[str, Any]] = {
        "favour_precision": {"favor_precision": False},
        "favour_recall": {"favor_precision": False, "favor_recall": True},
        "deduplicate": {"deduplicate": False},
        "include_tables": {"include_tables": False},
        "include_links": {"include_links": True},
        "include_formatting": {"include_formatting": True},
        "include_comments": {"include_comments": True},
    }
    defaults = {"favor_precision": True, "include_comments": False, "deduplicate": True}
    for name, theirs in expected.items():
        ours = {name: not getattr(Html(), name)}
        if name == "favour_recall":
            ours["favour_precision"] = False
        trafilatura.deduplication.LRU_TEST.clear()
        assert attempt(Html(**ours), page)[0] == [trafilatura.extract(page, **{**defaults, **theirs})]
    assert attempt(Html(), page)[0] != attempt(Html(deduplicate=False), page)[0]
    assert attempt(Html(), page)[0] != attempt(Html(include_tables=False), page)[0]


FAKE = """
import json, os, sys, time
sys.path[:] = json.loads(sys.argv[1])
from gristmill.cleaning import html_child
def extract(page):
    if page == "spin":
        while True: pass
    if page == "crash": os.abort()
    if page == "sleep": time.sleep(60)
    if page == "error": raise ValueError("no")
    return page.upper()
html_child._extractor = lambda arguments: extract
html_child.serve(float(sys.argv[2]))
"""


def test_what_a_page_does_to_its_process_is_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "_START", FAKE)
    monkeypatch.setattr(html, "_PATIENCE", 1.0)
    texts, reasons = attempt(Html(timeout=0.2), "a", "spin", "b", "crash", "error", "c", "sleep", "d", "\ud7ff🙂\0")
    assert texts == ["A", "", "B", "", "", "C", "", "D", "\ud7ff🙂\0"]
    expected = [None, "html.timeout", None, "html.crash", "html.error", None, "html.timeout", None, None]
    assert reasons == expected


def test_the_time_limit_stops_trafilatura_itself() -> None:
    big = "<html><body>" + PARAGRAPHS * 2000 + "</body></html>"
    assert attempt(Html(timeout=0.05), big, PAGE)[1][0] == "html.timeout"


def test_an_installation_that_does_not_work_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = FAKE.replace("lambda arguments: extract", "lambda arguments: 1 / 0")
    monkeypatch.setattr(html, "_START", broken)
    with pytest.raises(TaskError, match=r"trafilatura to work, found ZeroDivisionError.*\n.*pip install"):
        attempt(Html(), PAGE)


def test_without_its_extra_the_recipe_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "find_spec", lambda name: None)
    with pytest.raises(
        RecipeError, match=r"trafilatura and lxml-html-clean, found none.*pip install 'gristmill\[html\]'"
    ):
        Recipe.from_dict({"sources": [], "clean": ["html"]})


@pytest.mark.parametrize("parameters", [{"timeout": 0}, {"favour_precision": True, "favour_recall": True}])
def test_refuses_what_makes_no_sense(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Html(**parameters)


def test_gives_the_texts_of_datatroves_extractor(corpora: Any) -> None:
    extractor = pytest.importorskip("datatrove.pipeline.extractors").Trafilatura()
    rows = read_path(str(corpora / "web.warc.gz"))
    pages = [row["text"].decode() for row in rows if not row["unreadable"]][:20]
    texts, reasons = attempt(Html(timeout=20), *pages)
    assert sum(reason is None for reason in reasons) > 10
    for page, text in zip(pages, texts, strict=True):
        trafilatura.deduplication.LRU_TEST.clear()
        assert (extractor.extract(page) or "") == text

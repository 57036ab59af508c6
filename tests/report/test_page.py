"""The report in a browser: opened from disk, without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium, open_page, picture
from report_run import DROPPED_WORD, run

from gristmill.report.comparison import write_comparison
from gristmill.report.html import page, write_report


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def report(reported: Path) -> Path:
    return write_report(reported)


def ready(driver: Any) -> None:
    assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
    assert [entry["message"] for entry in driver.get_log("browser")] == []


def all_of(driver: Any, selector: str) -> list[Any]:
    return list(driver.find_elements("css selector", selector))


def move(driver: Any, control: Any, value: int | str) -> None:
    driver.execute_script(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", control, value
    )


def choose(driver: Any, control: str, value: str) -> None:
    move(driver, driver.find_element("id", control), value)


def press(driver: Any, button: Any) -> None:
    driver.execute_script("arguments[0].click()", button)


def number(text: str) -> int:
    return int(re.sub(r"\D", "", text.split(" of ")[0]))


def test_it_needs_nothing_but_itself(report: Path) -> None:
    text = report.read_text("utf-8")
    assert report.stat().st_size < 5_000_000
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", text)
    assert "@import" not in text and "url(http" not in text


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_drawn(browser: Any, report: Path, tmp_path: Path, width: int, scheme: str) -> None:
    open_page(browser, report, width, scheme)
    ready(browser)
    chapters = [part.get_attribute("id") for part in all_of(browser, "section")]
    assert chapters == [
        "funnel", "rules", "thresholds", "samples", "languages", "duplicates", "mixture", "lengths", "rows", "time",
        "recipe",
    ]  # fmt: skip
    assert len(all_of(browser, ".threshold svg rect")) > 50
    assert len(all_of(browser, ".packed i")) >= 24
    bars = browser.execute_script(
        "return [...document.querySelectorAll('.steps .bar i')].map((bar) => bar.offsetWidth)"
    )
    assert max(bars) > 100
    assert browser.execute_script("return document.documentElement.scrollWidth") == width  # nothing sticks out
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper))) > 600) == (scheme == "light")
    shot = picture(browser)
    assert shot.startswith(b"\x89PNG") and len(shot) > 50_000


def test_moving_a_threshold_changes_the_count(browser: Any, report: Path) -> None:
    open_page(browser, report)
    [card] = all_of(browser, ".threshold[data-rule='length.min_characters']")
    [slider], [kept] = (card.find_elements("css selector", selector) for selector in ("input", ".kept-count"))
    before = number(kept.text)
    [bound] = card.find_elements("css selector", "line.bound")
    place = bound.get_attribute("x1")
    move(browser, slider, int(slider.get_attribute("max")))
    [kept] = card.find_elements("css selector", ".kept-count")
    after = number(kept.text)
    assert 0 <= after < before
    [bound] = card.find_elements("css selector", "line.bound")
    assert float(bound.get_attribute("x1")) > float(place)
    assert "\u2212" in card.find_element("css selector", ".minus").text
    press(browser, card.find_element("css selector", "button"))
    assert number(card.find_element("css selector", ".kept-count").text) == before
    ready(browser)


def test_search_finds_a_dropped_document(browser: Any, report: Path) -> None:
    open_page(browser, report)
    assert len(all_of(browser, "#results article")) > 5
    browser.find_element("id", "search").send_keys(DROPPED_WORD.upper())
    [found] = all_of(browser, "#results article")
    assert found.get_attribute("data-reason") == "length.min_characters"
    assert found.find_element("css selector", "mark.found").text == DROPPED_WORD
    browser.find_element("id", "search").clear()
    browser.find_element("id", "search").send_keys("there is no such text")
    assert all_of(browser, "#results article") == []
    ready(browser)


def test_samples_are_filtered_by_rule_and_source(browser: Any, report: Path) -> None:
    open_page(browser, report)
    choose(browser, "reason", "=spam.phrase")
    assert {card.get_attribute("data-reason") for card in all_of(browser, "#results article")} == {"spam.phrase"}
    assert all_of(browser, "#results article mark")
    choose(browser, "source", "hostile")
    [card] = all_of(browser, "#results article")
    assert [mark.text.lower() for mark in card.find_elements("css selector", "mark")] == ["buy now", "click here"]


def test_a_script_in_a_text_stays_text(browser: Any, report: Path) -> None:
    open_page(browser, report)
    browser.find_element("id", "search").send_keys("taken over")
    texts = [text.text for text in all_of(browser, "#results article .text")]
    assert texts and all("<script>document.title = 'taken over'</script>" in text for text in texts)
    assert "taken over" not in browser.title
    assert all_of(browser, "img") == [] and all_of(browser, "#results script, #results b") == []
    ready(browser)


def test_no_evidence_ends_the_script_element() -> None:
    text = page("</title><script>", {"name": "</script><!--", "line": "\u2028"})
    assert "</script><!--" not in text and "</title><script>" not in text.split("<style>")[0].replace("</title>\n", "")
    assert "\u2028" not in text


def test_many_sources_share_a_grey(browser: Any, reported: Path, tmp_path: Path) -> None:
    from gristmill.report.evidence import gather
    from gristmill.report.html import write_page

    evidence = gather(reported)
    names = [f"source-{number}" for number in range(30)]
    evidence["sources"] = names
    for step in evidence["funnel"]:
        step["left"] = dict.fromkeys(names, 100)
    write_page(tmp_path / "many.html", "many", evidence)
    open_page(browser, tmp_path / "many.html", 400)
    ready(browser)
    legend = browser.find_element("css selector", "#funnel .legend")
    assert len(legend.find_elements("css selector", "span")) == 8 and "23 others" in legend.text
    assert browser.execute_script("return document.documentElement.scrollWidth") == 400


def test_two_runs_side_by_side(browser: Any, reported: Path) -> None:
    filters = [{"length": {"min_characters": 500}}, {"gopher_repetition": {}}]
    other = run(reported.parent, "other", filters=filters)
    open_page(browser, write_comparison(reported, other))
    ready(browser)
    assert [part.get_attribute("id") for part in all_of(browser, "section")] == [
        "recipe", "funnel", "rules", "mixture", "lengths", "time",
    ]  # fmt: skip
    row = next(row.text for row in all_of(browser, "#rules tr") if "length.min_characters" in row.text)
    assert "+" in row
    open_page(browser, other / "comparison.html", 400, "dark")
    assert browser.execute_script("return document.documentElement.scrollWidth") == 400

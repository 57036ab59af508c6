"""Pages that are made from the source are current."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gristmill.units import REGISTRY, choose

TOOL = Path(__file__).parents[2] / "tools" / "make_filter_docs.py"


@pytest.fixture(scope="module")
def tool() -> Any:
    spec = importlib.util.spec_from_file_location("make_filter_docs", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_on_filters_is_current(tool: Any) -> None:
    assert tool.TARGET.read_text("utf-8") == tool.page(), "run `make docs`"


@pytest.mark.parametrize("name", [*REGISTRY["filter"], *REGISTRY["cleaner"]])
def test_every_filter_and_cleaner_has_a_row_and_a_section(tool: Any, name: str) -> None:
    page = tool.TARGET.read_text("utf-8")
    assert page.count(f"| [`{name}`](#{name}) |") == 1
    assert page.count(f"\n### {name}\n") == 1


@pytest.mark.parametrize("name", REGISTRY["filter"])
def test_the_dropped_example_is_dropped_by_that_rule(tool: Any, name: str) -> None:
    page = tool.TARGET.read_text("utf-8")
    section = " ".join(page.split(f"\n### {name}\n")[1].split("\n### ")[0].split("\n| ")[0].split())
    found = re.search(r'Dropped(?: by `([^`]+)`)?: "(.+?)"(?:, an id)? \((.+?)\)\.', section)
    assert found, 'expected an example: Dropped by `parameter: value`: "text" (reason).'
    parameters, text, reason = found.groups()
    written = parameters or "{}"
    given = yaml.safe_load(written if written.startswith("{") else f"{{{written}}}")
    unit = choose("filter", {name: given}).make("filter")
    assert unit.verdicts([text.replace("\\n", "\n")]).to_pylist() == [f"{name}.{reason}"]

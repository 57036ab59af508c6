"""Pages that are made from the source are current."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from gristmill.units import REGISTRY

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

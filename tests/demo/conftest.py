"""The demo corpus, written once for all tests."""

from __future__ import annotations

import pytest
from demo_rows import Written, read

from gristmill.demo import write_corpus


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The corpus that `make demo` uses."""
    return read(write_corpus(tmp_path_factory.mktemp("demo")))

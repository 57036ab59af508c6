from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from report_run import run, write_texts


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The output folder of a finished run; its corpus lies beside it."""
    folder = tmp_path_factory.mktemp("reported")
    write_texts(folder)
    yield run(folder)

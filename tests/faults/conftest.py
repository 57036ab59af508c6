from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fault_trials import Trial, Twin, recipe_over, write_raw

import disturbance
import gristmill as gm


@pytest.fixture(scope="session")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Twin:
    folder = tmp_path_factory.mktemp("twin")
    write_raw(folder / "raw")
    started = time.perf_counter()
    gm.run(recipe_over(folder / "raw", folder / "out"))
    output = folder / "out"
    return Twin(
        folder / "raw",
        output,
        time.perf_counter() - started,
        disturbance.results(output),
        disturbance.documents(output),
    )


@pytest.fixture
def trial(
    twin: Twin, tmp_path: Path, record_property: Callable[[str, object], None], request: pytest.FixtureRequest
) -> Trial:
    return Trial(twin, tmp_path / "out", twin.raw, random.Random(request.node.name), record_property)

"""What all tests share: where the material for development lies, if it is there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# Kernels load on first use and machines are noisy: a slow example is no failure.
settings.register_profile("gristmill", deadline=None)
settings.load_profile("gristmill")
sys.path.insert(0, str(Path(__file__).parent))  # so that `reference` (the slow twins) can be imported
sys.path.insert(0, str(Path(__file__).parent / "route"))  # and `route_inputs`, from other folders
SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real corpora; tests that need it skip without."""
    folder = SHARED / "corpora"
    if not folder.is_dir():
        pytest.skip(f"real corpora are not here: {folder}")
    return folder


@pytest.fixture(scope="session")
def gpt2() -> Path:
    """GPT-2's tokenizer.json; tests that need it skip without."""
    file = SHARED / "tokenizers" / "gpt2.json"
    if not file.is_file():
        pytest.skip(f"the GPT-2 tokenizer is not here: {file}")
    return file


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Name → file of a small fastText model (see reference/fasttext_training.py); tests skip without fastText."""
    from reference.fasttext_training import train

    folder = tmp_path_factory.mktemp("fasttext")
    return lambda name: train(name, folder)

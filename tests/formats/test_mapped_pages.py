"""Pages of mapped files, let go and read again."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from gristmill.formats.mapped_pages import release_pages

BYTES = 8 << 20


def resident_file_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssFile"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets pages go")
def test_pages_go_and_come_back_unchanged(tmp_path: Path) -> None:
    expected = np.random.default_rng(0).integers(0, 256, BYTES, np.uint8)
    (tmp_path / "file").write_bytes(expected.tobytes())
    view = np.memmap(tmp_path / "file", np.uint8, mode="r")[100:-100]
    before = resident_file_bytes()
    assert view.sum(dtype=np.int64) == expected[100:-100].sum(dtype=np.int64)
    held = resident_file_bytes()
    release_pages(view)
    assert held - before > BYTES // 2
    assert held - resident_file_bytes() > BYTES // 2
    assert np.array_equal(view, expected[100:-100])


def test_memory_of_our_own_is_refused() -> None:
    with pytest.raises(AssertionError, match="read as zeros"):
        release_pages(np.zeros(10_000))
    release_pages(np.zeros(0))

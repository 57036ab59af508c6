from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gristmill.formats.scratch_array import scratch_array


def test_it_is_zeros_that_can_be_written(tmp_path: Path) -> None:
    array = scratch_array(tmp_path / "some", np.int64, 1000)
    assert not array.any()
    array[:] = np.arange(1000)
    assert np.array_equal(np.fromfile(tmp_path / "some", np.int64), np.arange(1000))


def test_an_empty_one_needs_no_file(tmp_path: Path) -> None:
    assert len(scratch_array(tmp_path / "none", np.int64, 0)) == 0
    assert not (tmp_path / "none").exists()


def test_a_full_disk_is_an_error_and_no_signal(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk needs the right to mount one")
    try:
        with pytest.raises(OSError) as caught:
            scratch_array(tmp_path / "large", np.int64, 100_000)
        assert caught.value.errno == errno.ENOSPC
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)

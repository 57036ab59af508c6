"""Arrays in scratch files, mapped into memory: what grows with the corpus grows on the disk.

What enters: a path, a type, a length. What leaves: a writable array of zeros. Its blocks are taken from the disk at
once where the system can: else a full disk would end the process at some later write (SIGBUS) instead of being told.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def scratch_array(path: Path, kind: Any, length: int) -> npt.NDArray[Any]:
    """Zeros, in a new file. Raises OSError where the disk has no room for them."""
    if length == 0:
        return np.zeros(0, kind)
    with open(path, "wb") as file:
        size_bytes = length * np.dtype(kind).itemsize
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size_bytes)
        else:
            file.truncate(size_bytes)
    return np.memmap(path, kind, "r+", shape=(length,)).view(np.ndarray)

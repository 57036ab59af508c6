"""Pages of mapped files: what was read of a mapping counts as this process's memory until it is let go."""

from __future__ import annotations

import ctypes
import mmap
import sys
from functools import cache
from typing import Any

import numpy.typing as npt

_DONTNEED = getattr(mmap, "MADV_DONTNEED", None)


@cache
def _advise() -> Any:
    function = ctypes.CDLL(None, use_errno=True).madvise
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function


def release_pages(view: npt.NDArray[Any]) -> None:
    """Let the pages under a read-only view of a mapped file go. They come back, unchanged, when they are read again:
    so this is for views of files only, never for memory of our own. Without effect where the system has no madvise."""
    if sys.platform != "linux" or _DONTNEED is None or view.nbytes == 0:
        return
    assert not view.flags.writeable and not view.flags.owndata, "pages of our own would read as zeros"
    begin = view.ctypes.data // mmap.PAGESIZE * mmap.PAGESIZE
    end = view.ctypes.data + view.nbytes
    _advise()(begin, end - begin, _DONTNEED)

"""How every kernel is compiled: ahead of its first call, without the GIL, cached on disk.

Signatures are explicit, so importing a kernel module loads (or, once a machine, compiles) exactly the code
that will run: no second specialisation is ever made behind our back. Arrays that a kernel only reads are
declared read-only, because Arrow's buffers are; writable arrays are accepted there too.

Run with NUMBA_BOUNDSCHECK=1 and a fresh NUMBA_CACHE_DIR to check every index (the tests do, once).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba import types
from numba.core import entrypoints

Function = Callable[..., Any]  # what a kernel takes and gives stands in its numba signature


def _arrays(item: Any) -> tuple[Any, Any]:
    return types.Array(item, 1, "C", readonly=True), types.Array(item, 1, "C")


# NAME_IN is only read, NAME_OUT is written.
BYTES_IN, BYTES_OUT = _arrays(types.uint8)
BOOL_IN, BOOL_OUT = _arrays(types.boolean)
U16_IN, U16_OUT = _arrays(types.uint16)
U32_IN, U32_OUT = _arrays(types.uint32)
U64_IN, U64_OUT = _arrays(types.uint64)
I32_IN, I32_OUT = _arrays(types.int32)
I64_IN, I64_OUT = _arrays(types.int64)
F32_IN, F32_OUT = _arrays(types.float32)
F64_IN, F64_OUT = _arrays(types.float64)


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Decorator: compile for exactly this signature (or list of signatures), now, and keep it on disk."""
    decorator: Callable[[Function], Function] = numba.njit(signature, cache=True, nogil=True, error_model="numpy")

    def compile_now(function: Function) -> Function:
        with _without_extensions():
            return decorator(function)

    return compile_now


@contextmanager
def _without_extensions() -> Iterator[None]:
    """Let numba load no extensions of other packages for our sake: awkward's alone takes 0.1 s of every process.
    Where somebody else compiles, they are loaded as ever."""
    before = entrypoints._already_initialized
    entrypoints._already_initialized = True
    try:
        yield
    finally:
        entrypoints._already_initialized = before


def inline(function: Function) -> Function:
    """Decorator for the small functions that kernels call: compiled with their caller, no signature needed."""
    compiled: Function = numba.njit(inline="never", nogil=True, error_model="numpy")(function)
    return compiled

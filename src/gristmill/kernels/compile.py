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
from numba.core.runtime import rtsys

_LOADED_LEAN = ("0.68.",)  # versions of numba of which all kernels were tried so

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
    signatures = signature if isinstance(signature, list) else [signature]

    def compile_now(function: Function) -> Function:
        dispatcher: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
        _load_without_refreshing(dispatcher)
        with _without_extensions():
            for one in signatures:
                dispatcher.compile(one)
        dispatcher.disable_compile()
        return dispatcher  # type: ignore[no-any-return]

    return compile_now


def _load_without_refreshing(dispatcher: Any) -> None:
    """Let code that is on disk be loaded at once. Numba would first load all it knows for compiling, 0.2 s of every
    process (0.4 where SciPy is installed), of which machine code needs the runtime only; whatever compiles still
    loads it. A symbol that nobody has named to LLVM ends the process, hence the list of versions."""
    if not numba.__version__.startswith(_LOADED_LEAN):
        return
    cache = dispatcher._cache

    def load_overload(signature: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target_context)

    cache.load_overload = load_overload


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


def fold(function: Function) -> Function:
    """As `inline`, but never a call: for functions that are handed dozens of addresses, each of which a call copies."""
    compiled: Function = numba.njit(inline="never", forceinline=True, nogil=True, error_model="numpy")(function)
    return compiled

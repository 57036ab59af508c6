"""gigatoken over Arrow's buffers, with a lid on its memory.

Enters: the buffers of a string column. Leaves: the ids of each text alone, 32 bits, and their bounds; no Python
object per document or per token in between. Everything runs on the calling thread.

gigatoken 0.10 caches the ids of every split piece of text it ever met and frees nothing (its issue 36): 100 MB
after 190 MB of prose, mail, code and 40 languages, but 3 GB after 400 MB of random words. When its calls have made
this process grow by CACHE_LIMIT_BYTES, the tokenizer is made anew. The ids do not depend on it.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import awkward as ak
import gigatoken
import numpy as np
import numpy.typing as npt
import psutil
from awkward.contents import ListOffsetArray, NumpyArray
from awkward.index import Index64

from gristmill.document import Bytes, Offsets

CACHE_LIMIT_BYTES = 112 << 20

Ids = npt.NDArray[np.uint32]


class GigatokenEngine:
    """One gigatoken tokenizer, remade when its cache is full. Raises what gigatoken raises if it refuses."""

    def __init__(self, json_text: str, cache_limit_bytes: int = CACHE_LIMIT_BYTES) -> None:
        self._json_text = json_text
        self._cache_limit_bytes = cache_limit_bytes
        self._process = psutil.Process()
        self.times_made = 0
        self._make()

    def encode(self, offsets: Offsets, data: Bytes) -> tuple[Offsets, Ids]:
        """Bounds (from 0) and ids of each text between `offsets`, which may start anywhere in `data`."""
        if self._grown_bytes > self._cache_limit_bytes:
            self._make()
        before_bytes = self._resident_bytes()
        characters = NumpyArray(data, parameters={"__array__": "char"})
        texts = ListOffsetArray(Index64(offsets), characters, parameters={"__array__": "string"})
        encoded = self._tokenizer.encode_batch(ak.Array(texts), parallel=False).layout
        bounds, ids = encoded.offsets.data, encoded.content.data
        self._grown_bytes += max(0, self._resident_bytes() - before_bytes - bounds.nbytes - ids.nbytes)
        return bounds, ids

    def _make(self) -> None:
        self._tokenizer: Any = None  # the old one goes before the new one comes
        _release_free_memory()
        self._tokenizer = gigatoken.Tokenizer.from_json(self._json_text)
        _release_free_memory()  # reading Llama 3's JSON leaves 50 MB of it, in `tokenizers` 140 MB
        self._grown_bytes = 0
        self.times_made += 1

    def _resident_bytes(self) -> int:
        resident_bytes: int = self._process.memory_info().rss
        return resident_bytes


def _release_free_memory() -> None:
    """Give what malloc keeps for later back to the system, where malloc is glibc's and would not by itself."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)

"""What several filters need of a batch of texts, computed once, when first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from gristmill.document import buffers


class TextView:
    """A batch of texts (large_string, no nulls) and what has been measured of it so far."""

    def __init__(self, texts: Any) -> None:
        self.texts = texts
        self.offsets, self.data = buffers(texts)

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def lengths_bytes(self) -> npt.NDArray[np.int64]:
        """Bytes of each text."""
        return np.diff(self.offsets)

    @cached_property
    def lengths_characters(self) -> npt.NDArray[np.int64]:
        """Code points of each text."""
        return pc.utf8_length(self.texts).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    @cached_property
    def lengths_words(self) -> npt.NDArray[np.int64]:
        """Words of each text, as white space parts them."""
        from gristmill.kernels import utf8

        words = np.empty(len(self), np.int64)
        utf8.count_words(self.offsets, self.data, words)
        return words

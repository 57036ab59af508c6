"""Bytes → valid UTF-8, without NUL unless asked. Everything else stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from gristmill.document import buffers, strings


@dataclass(frozen=True)
class Unicode:
    """Removes what is not well-formed UTF-8 (broken bytes, lone surrogates) and NUL characters."""

    VERSION: ClassVar[int] = 1

    remove_nul: bool = True

    def clean(self, texts: Any) -> Any:
        """large_binary or large_string → large_string. A batch with nothing to mend is passed on uncopied."""
        offsets, data = buffers(texts)
        used = data[offsets[0] : offsets[-1]]
        has_nul = self.remove_nul and len(used) > 0 and used.min() == 0
        if not has_nul and (valid := _as_strings(texts)) is not None:
            return valid
        from gristmill.kernels import utf8

        new_offsets = np.empty(len(offsets), np.int64)
        out = np.empty(len(used), np.uint8)
        written = utf8.repair(offsets, data, 1 if self.remove_nul else 0, new_offsets, out)
        return strings(new_offsets, out[:written])


def _as_strings(texts: Any) -> Any:
    """The same buffers as large_string, or None where Arrow's (vectorised) validation refuses them."""
    try:
        return texts.cast(pa.large_string())
    except pa.ArrowInvalid:
        return None

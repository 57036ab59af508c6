"""White space at both ends of a text, away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gristmill.document import buffers, strings


@dataclass(frozen=True)
class Strip:
    """Removes white space (what str.isspace() calls so) from both ends, as str.strip() does."""

    VERSION: ClassVar[int] = 1

    def clean(self, texts: Any) -> Any:
        """large_string → large_string."""
        from gristmill.kernels import utf8

        offsets, data = buffers(texts)
        new_offsets = np.empty(len(offsets), np.int64)
        out = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
        written = utf8.strip(offsets, data, new_offsets, out)
        return strings(new_offsets, out[:written])

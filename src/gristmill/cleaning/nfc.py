"""Unicode normalisation form C, by Arrow's compiled utf8proc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow.compute as pc


@dataclass(frozen=True)
class Nfc:
    """Canonical composition: Vietnamese typed with combining marks becomes the same text as typed without."""

    VERSION: ClassVar[int] = 1

    def clean(self, texts: Any) -> Any:
        """large_string → large_string."""
        return pc.utf8_normalize(texts, form="NFC")

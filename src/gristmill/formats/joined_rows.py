"""Several packs as one sequence of rows, end to end: what a mixture at load time reads.

What enters: packs of one tokenizer and one sequence length. What leaves: the rows of the first, then those of the
second, and so on; `sources` are those of all packs, one after the other. Guaranteed: the fingerprint names the
content of all packs in their order; nothing is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gristmill.errors import FormatError
from gristmill.formats.packed_rows import Manifest, PackedRows, Segments
from gristmill.formats.row_file import I64

_SAME = ("sequence_length", "tokenizer_fingerprint", "vocab_size", "pad_id")


class JoinedRows(PackedRows):
    """The rows of all packs. Raises FormatError where the packs do not go together."""

    def __init__(self, packs: Sequence[PackedRows]) -> None:
        first = packs[0].manifest.layout
        for pack in packs[1:]:
            for name in _SAME:
                expected, found = getattr(first, name), getattr(pack.manifest.layout, name)
                if found != expected:
                    raise FormatError(
                        f"expected packs that a model can read as one, found {name} {expected} in {packs[0].folder} "
                        f"and {found} in {pack.folder}\n  Pack both with one tokenizer and one sequence length."
                    )
        layouts = [pack.manifest.layout for pack in packs]
        sources = tuple(name for layout in layouts for name in layout.sources)
        strategies = sorted({layout.strategy for layout in layouts})
        entries = tuple(entry for pack in packs for entry in pack.manifest.files)
        layout = replace(first, sources=sources, strategy=", ".join(strategies))
        super().__init__(packs[0].folder, Manifest(layout, entries))
        self._folders = [pack.folder for pack in packs for _ in pack.manifest.files]
        self._pack_ends: I64 = np.cumsum([len(pack) for pack in packs])
        self._first_source = np.cumsum([0, *(len(layout.sources) for layout in layouts)]).tolist()

    def segments(self, row: int) -> Segments:
        """The document parts of one row; `source` counts in the sources of all packs."""
        found = super().segments(row)
        pack = int(np.searchsorted(self._pack_ends, row, side="right"))
        return found._replace(source=found.source + np.uint16(self._first_source[pack]))

    def _path(self, number: int) -> Path:
        return self._folders[number] / self.manifest.files[number].name

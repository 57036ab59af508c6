"""Substrings that occur before, cut: any N bytes in a row that stand earlier in the corpus, or in the same document.

A byte position p of a document begins a repeat if and only if text[p:p + N] occurs at an earlier position of the
corpus; matches do not cross documents. The union of all [p, p + N) goes, shrunk inwards to whole characters, or words.

Why it is complete, in three rounds (kernels/anchors.py). Take two equal windows of N bytes, the earlier one the first
of its kind. Their anchors have equal keys. Round one compares the anchors' contexts, everything that their windows see.
Where the later window's context occurs before, all windows in it are repeats, and no byte needs to be looked at again.
Otherwise both contexts are the first of their kind, and differ: their key is shared by several contexts. Only such
anchors are examined in round two, the same for a few of their windows at a time, with longer keys; and only what shares
a key there is examined in round three, window by window. Nothing else can be a repeat, and what is found is one, for
contexts and windows are compared by hashes of all their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from gristmill.dedup.cutting import NONE, Found
from gristmill.dedup.occurrences import I64, Occurrences
from gristmill.document import buffers
from gristmill.formats.cuts import Cuts
from gristmill.kernels.places import MOST_COUNT

MOST_BYTES = 30_000
_BLOCKS_A_WINDOW = 8
_BLOCKS_AT_ONCE = 1 << 19


@dataclass(frozen=True)
class Substrings:
    """Cuts what is at least `min_bytes` long and occurs before.

    Of "A well-known sentence of some length. And then?" the first sentence goes where an earlier document has it and
    it has `min_bytes`; " And then?" stays. A document of which fewer than `min_doc_words` words are left goes as a
    whole, as in datatrove's suffix-array deduplication (Lee et al. 2022), whose definition of a repeat this is, but
    that the first occurrence stays.
    """

    min_bytes: int = 200
    bounds: Literal["characters", "words"] = "characters"
    min_doc_words: int = 50

    NAME: ClassVar[str] = "substrings"
    VERSION: ClassVar[int] = 1
    CUTS: ClassVar[bool] = True
    ROUNDS: ClassVar[tuple[str, ...]] = ("anchors", "blocks", "windows")

    def __post_init__(self) -> None:
        if not 2 <= self.min_bytes <= MOST_BYTES:
            raise ValueError(f"expected min_bytes of 2 to {MOST_BYTES:,}, found {self.min_bytes}")
        if self.bounds not in ("characters", "words"):
            raise ValueError(f"expected bounds: characters or words, found {self.bounds!r}")
        if self.min_doc_words < 0:
            raise ValueError(f"expected min_doc_words of at least 0, found {self.min_doc_words}")

    def find(self, turn: int, texts: Any, first_byte: int, examined: I64) -> Iterator[Found]:
        """In the first round the anchors, then blocks of their windows, then windows."""
        from gristmill.kernels.anchors import find_anchors, hash_blocks

        offsets, data = buffers(texts)
        if turn == 0:
            anchors = find_anchors(offsets, data, first_byte, self.min_bytes)
            yield Found(Occurrences(anchors.key, anchors.context, anchors.place), anchors.repeats)
            return
        block_windows = max(1, self.min_bytes // _BLOCKS_A_WINDOW) if turn == 1 else 1
        blocks = np.cumsum((examined & MOST_COUNT) // block_windows + 2)
        cuts = np.searchsorted(blocks, range(_BLOCKS_AT_ONCE, blocks[-1], _BLOCKS_AT_ONCE))
        for near in np.split(examined, cuts):
            found = hash_blocks(data[offsets[0] :], near, first_byte, self.min_bytes, block_windows)
            yield Found(Occurrences(*found), NONE)

    def cuts(self, texts: Any, first_byte: int, repeated: I64) -> Cuts:
        """What goes of these texts, numbered from 0: the union of the windows of these places, ascending."""
        from gristmill.kernels.cuts import union_of_windows, union_of_windows_in_words

        union = union_of_windows if self.bounds == "characters" else union_of_windows_in_words
        spans = union(*buffers(texts), first_byte, repeated, self.min_bytes)
        return Cuts(*spans, np.zeros(len(spans.start), np.bool_))

    def too_short(self, texts: Any) -> npt.NDArray[np.bool_]:
        """Which of these texts, all of them cut, have too few words left."""
        from gristmill.kernels.words import split_words

        return np.diff(split_words(*buffers(texts)).first) < max(1, self.min_doc_words)

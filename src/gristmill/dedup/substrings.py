"""Substrings that occur before, cut: any N bytes in a row that stand earlier in the corpus, or in the same document.

A byte position p of a document begins a repeat if and only if text[p:p + N] occurs at an earlier position of the
corpus; matches do not cross documents. The union of all [p, p + N) goes, shrunk inwards to whole characters, or words.

Why it is complete, in two rounds (anchors: kernels/anchors.py). Take two equal windows of N bytes, the earlier one the
first of its kind. Their anchors have equal keys. Round one compares the anchors' contexts, everything that their
windows see. Where the later window's context occurs before, all windows in it are repeats, and no byte needs to be
looked at again. Otherwise both contexts are the first of their kind, and differ: their key is shared by several
contexts. Only windows of such anchors are hashed one by one, in round two. Nothing else can be a repeat, and what is
found is one, for in both rounds bytes are compared by hashes of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from gristmill.dedup.cutting import NONE, Found
from gristmill.dedup.occurrences import I64, Occurrences
from gristmill.document import buffers
from gristmill.formats.cuts import Cuts

MOST_BYTES = 1 << 20


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
    ROUNDS: ClassVar[tuple[str, ...]] = ("anchors", "windows")

    def __post_init__(self) -> None:
        if not 2 <= self.min_bytes <= MOST_BYTES:
            raise ValueError(f"expected min_bytes of 2 to {MOST_BYTES:,}, found {self.min_bytes}")
        if self.bounds not in ("characters", "words"):
            raise ValueError(f"expected bounds: characters or words, found {self.bounds!r}")
        if self.min_doc_words < 0:
            raise ValueError(f"expected min_doc_words of at least 0, found {self.min_doc_words}")

    def find(self, turn: int, texts: Any, first_byte: int, examined: I64) -> Found:
        """In the first round the anchors, in the second the windows of the examined ones."""
        from gristmill.kernels.anchors import COUNT_BITS, find_anchors, hash_windows

        offsets, data = buffers(texts)
        if turn == 0:
            anchors = find_anchors(offsets, data, first_byte, self.min_bytes)
            return Found(Occurrences(anchors.key, anchors.context, anchors.place), anchors.repeats)
        low, high, start = hash_windows(data[offsets[0] :], examined, first_byte, self.min_bytes)
        return Found(Occurrences(low, high, start << COUNT_BITS | 1), NONE)

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

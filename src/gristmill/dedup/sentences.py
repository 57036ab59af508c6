"""Spans of sentences that occur before, cut: "we discarded all but one of any three-sentence span occurring more than
once in the data set" (Raffel et al. 2020, C4), as datatrove 0.10.1 does it.

Equal are spans that are equal when case, punctuation, white space, diacritics and the digits of numbers make no
difference. What stays of each text is datatrove's, byte for byte, where it runs as one task; with several, its "first"
is the one with the lowest number in any file, ours the first in the order of the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gristmill.dedup.cutting import NONE, Found
from gristmill.dedup.occurrences import I64, Occurrences
from gristmill.dedup.remembered import check_index
from gristmill.document import Bytes, Offsets, buffers
from gristmill.formats.cuts import Cuts
from gristmill.kernels.places import PLACE_BITS


@dataclass(frozen=True)
class Sentences:
    """Cuts spans of `n_sentences` sentences (English rules; or lines) that occur before.

    The span of "Sign up now. It is free. Unsubscribe anytime." goes from every document but the first that has it.
    A run of cut sentences of which the first has fewer than `min_words_to_remove_span` words keeps that first one, and
    loses the others: so does datatrove. A document that lost something is dropped with fewer than `min_doc_words` words
    or `min_num_sentences` sentences left (0: no bound), or nothing. With `index`, a folder, spans go that earlier runs
    saw.
    """

    n_sentences: int = 3
    split_sentences: bool = True  # false: lines
    min_doc_words: int = 50
    min_num_sentences: int = 3
    min_words_to_remove_span: int = 0
    index: Any = None

    NAME: ClassVar[str] = "sentences"
    VERSION: ClassVar[int] = 1
    CUTS: ClassVar[bool] = True
    ROUNDS: ClassVar[tuple[str, ...]] = ("spans",)

    def __post_init__(self) -> None:
        if self.n_sentences < 1:
            raise ValueError(f"expected n_sentences of at least 1, found {self.n_sentences}")
        for name in ("min_doc_words", "min_num_sentences", "min_words_to_remove_span"):
            if getattr(self, name) < 0:
                raise ValueError(f"expected {name} of at least 0, found {getattr(self, name)}")
        check_index(self.index)

    def sketching(self) -> Mapping[str, Any]:
        """The parameters that the hashes of spans depend on."""
        return {"n_sentences": self.n_sentences, "split_sentences": self.split_sentences}

    def find(self, turn: int, texts: Any, first_byte: int, examined: I64) -> Iterator[Found]:
        """A hash of each span that says anything."""
        offsets, data = buffers(texts)
        pieces, looked_at = self.pieces(offsets, data)
        low, high, start = self.spans(pieces, looked_at, data)
        yield Found(Occurrences(low, high, start - offsets[0] + first_byte << PLACE_BITS), NONE)

    def spans(self, pieces: Any, looked_at: I64, data: Bytes) -> tuple[Any, Any, I64]:
        """Of each span that says anything two hashes, the first of which is datatrove's, and where it begins."""
        from gristmill.kernels.folding import SIMPLE, fold
        from gristmill.kernels.sentence_spans import hash_spans

        return hash_spans(pieces, looked_at, *fold(pieces.bounds(), data, SIMPLE), self.n_sentences)

    def cuts(self, texts: Any, first_byte: int, repeated: I64) -> Cuts:
        """What goes of the documents in which these spans begin."""
        from gristmill.kernels.sentence_spans import without_lines, without_sentences

        offsets, _ = buffers(texts)
        begins = (repeated >> PLACE_BITS) - first_byte + offsets[0]
        documents = np.searchsorted(offsets, begins, "right") - 1
        changed, number = np.unique(documents, return_inverse=True)
        changed_offsets, data = buffers(texts.take(changed))
        pieces, _ = self.pieces(changed_offsets, data)
        begins += changed_offsets[number] - offsets[documents]
        dropped = self._dropped(pieces, np.searchsorted(pieces.start, begins), data)
        without = without_sentences if self.split_sentences else without_lines
        cuts = without(changed_offsets, data, pieces, dropped)
        return Cuts(changed[cuts.document], cuts.start, cuts.stop, cuts.newline)

    def too_short(self, texts: Any) -> npt.NDArray[np.bool_]:
        """Which of these texts have too few words or sentences left."""
        from gristmill.kernels.sentences import split_sentences
        from gristmill.kernels.words import split_words

        offsets, data = buffers(texts)
        words = split_words(offsets, data)
        sentences = np.diff(split_sentences(offsets, data, words).first)
        few_words = np.diff(words.first) < self.min_doc_words
        empty: npt.NDArray[np.bool_] = np.diff(offsets) == 0
        return few_words | (sentences < self.min_num_sentences) | empty

    def pieces(self, offsets: Offsets, data: Bytes) -> tuple[Any, I64]:
        """The sentences or lines, and how many of each document count: not one of white space, which is the last."""
        from gristmill.kernels.sentence_spans import Pieces
        from gristmill.kernels.sentences import split_sentences
        from gristmill.kernels.split_lines import split_lines
        from gristmill.kernels.words import split_words

        if not self.split_sentences:
            lines = Pieces(*split_lines(offsets, data))
            return lines, np.diff(lines.first)
        words = split_words(offsets, data)
        sentences = Pieces(*split_sentences(offsets, data, words))
        last_word_stop = np.append(words.stop, 0)[words.first[1:] - 1]
        has_words = np.diff(words.first) > 0
        blank = ~has_words | (last_word_stop <= sentences.start[sentences.first[1:] - 1])
        return sentences, np.diff(sentences.first) - blank

    def _dropped(self, pieces: Any, repeated: I64, data: Bytes) -> npt.NDArray[np.bool_]:
        """Which pieces go, when the spans that begin with these occur before."""
        from gristmill.kernels.words import split_words

        changes = np.zeros(len(pieces.start) + self.n_sentences + 1, np.int64)
        np.add.at(changes, repeated, 1)
        np.add.at(changes, repeated + self.n_sentences, -1)
        dropped = np.cumsum(changes)[: len(pieces.start)] > 0
        if self.min_words_to_remove_span > 0:
            begins_run = dropped.copy()
            begins_run[1:] &= ~dropped[:-1]
            begins_run[pieces.first[:-1]] = dropped[pieces.first[:-1]]
            runs = np.flatnonzero(begins_run)
            bounds = np.stack([pieces.start[runs], pieces.stop[runs]], 1).reshape(-1)
            words = np.diff(split_words(bounds, data).first)[::2]
            dropped[runs[words < self.min_words_to_remove_span]] = False
        return dropped

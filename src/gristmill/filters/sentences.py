"""Which sentences a text has: for filters that count them, by the choice `words` (filters/words.py).

spacy-en     spaCy's sentencizer on its English words, datatrove's default: by a kernel, exactly
LANGUAGE     datatrove's own tokenizer of that language: its Python, at its speed

`whitespace` parts no sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gristmill.document import Bytes, Offsets, strings
from gristmill.filters.words import DEFAULT, WHITESPACE, check_splitter, datatrove_tokenizer

if TYPE_CHECKING:
    from gristmill.kernels.sentences import Sentences


def check_sentence_splitter(name: object) -> None:
    """Raises ValueError for what parts no sentences."""
    check_splitter(name)
    if name == WHITESPACE:
        raise ValueError("expected words: spacy-en, or a language, because sentences are counted, found 'whitespace'")


def split(name: str, offsets: Offsets, data: Bytes) -> Sentences:
    """The sentences of each text between `offsets`: end to end, they are the text."""
    from gristmill.kernels.sentences import Sentences, split_sentences
    from gristmill.kernels.words import split_words

    if name == DEFAULT:
        return split_sentences(offsets, data, split_words(offsets, data))
    tokenizer = datatrove_tokenizer(name)
    lengths: list[int] = []
    first = np.zeros(len(offsets), np.int64)
    for number, text in enumerate(strings(offsets, data).to_pylist()):
        stops = [stop for _, stop in tokenizer.span_tokenize(text)][:-1]
        bounds = zip([0, *stops], [*stops, len(text)], strict=True)
        lengths += [len(text[start:stop].encode()) for start, stop in bounds]
        first[number + 1] = len(lengths)
    stop = offsets[0] + np.cumsum(lengths, dtype=np.int64)
    return Sentences(first, stop - np.array(lengths, np.int64), stop)

"""Documents to sentences, exactly as datatrove's `split_into_sentences` (spaCy's sentencizer, English) parts them.

What enters: the two buffers of a string column and its words by `split_words`. What leaves: `Sentences`, the byte span
of every sentence. Guaranteed: the sentences of a document are the document, end to end: white space stands at their
beginnings, but at the end of the last one. Every document has at least one, the empty one too.

- A word that is one of spaCy's marks, alone, ends a sentence (`.` does, `...` and `Dr.` do not), and with it all
  punctuation words that follow directly, or behind one blank.
- The next sentence begins with whatever else follows. White space is that, unless it is one blank, because spaCy makes
  a token of all other white space: so "End.\\n" is two sentences, and "End. " is one.

Not repeated: spaCy fails on the word IS_ALPHA, and datatrove then takes all of them out of the text before it looks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, PUNCTUATION, SENTENCE_END, character
from gristmill.kernels.compile import BYTES_IN, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.vector import address
from gristmill.kernels.words import Words

_BLANK = ord(" ")
_NOT_PUNCTUATION, _ONLY_PUNCTUATION, _MARK = range(3)


class Sentences(NamedTuple):
    """The sentences of document d are number first[d] to first[d + 1]; sentence s is data[start[s]:stop[s]]."""

    first: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]


@inline
def _kind(data, start, stop, characters):
    """Whether a word is a mark that ends sentences, other punctuation, or neither."""
    here, width = character(data, start, characters)
    if here & SENTENCE_END and width == stop - start:
        return _MARK
    at = start
    while here & PUNCTUATION:
        at += width
        if at >= stop:
            return _ONLY_PUNCTUATION
        here, width = character(data, at, characters)
    return _NOT_PUNCTUATION


@inline
def _is_token(data, start, stop):
    """Whether spaCy makes a token of the white space data[start:stop], which follows a word."""
    return stop - start > 1 or (stop > start and data[start] != _BLANK)


@kernel(types.Tuple((I64_OUT, I64_OUT))(I64_IN, BYTES_IN, I64_IN, I64_IN, I64_IN, CHARACTERS_IN))
def _split(offsets, bytes_, first_word, word_start, word_stop, character_tables):
    characters = character_tables[0]
    data = address(bytes_)
    documents = offsets.size - 1
    first = np.zeros(documents + 1, np.int64)
    # A sentence but the first of a document needs a mark before it.
    start = np.empty(documents + word_start.size, np.int64)
    count = np.int64(0)
    for document in range(documents):
        start[count] = offsets[document]
        count += 1
        ended = False
        before = offsets[document]
        for word in range(first_word[document], first_word[document + 1]):
            kind = _kind(data, word_start[word], word_stop[word], characters)
            if ended and (kind == _NOT_PUNCTUATION or _is_token(data, before, word_start[word])):
                start[count] = before
                count += 1
                ended = False
            ended |= kind == _MARK
            before = word_stop[word]
        if ended and _is_token(data, before, offsets[document + 1]):
            start[count] = before
            count += 1
        first[document + 1] = count
    return first, start[:count].copy()


def split_sentences(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], words: Words) -> Sentences:
    """The sentences of every document; `words` are those of `split_words(offsets, data)`."""
    assert words.data is data, "expected words of this very text"
    first, start = _split(offsets, data, words.first, words.start, words.stop, CHARACTERS)
    stop = np.empty_like(start)
    stop[:-1] = start[1:]
    stop[first[1:] - 1] = offsets[1:]
    return Sentences(first, start, stop)

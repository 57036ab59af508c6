"""How much of a document repeats itself: Gopher's measures, counted as datatrove counts them.

What enters: the buffers of a string column, its words, and which n-grams to count. What leaves: `Repetition`, ratios
per document. Guaranteed: the numbers that datatrove's GopherRepetitionFilter compares with its thresholds, bit for
bit; 0 where it compares nothing (an empty document, fewer than n words).

- Lines are what runs of newlines part, paragraphs what runs of two or more part (of the stripped text); the first of
  equal ones is no duplicate. Empty ones at the ends count.
- Top n-gram: words joined by blanks; length times count of the most frequent, of the first one if several are.
- Duplicate n-grams: words joined by nothing, so `a b` equals `ab`; one that is known is skipped as a whole.

No method as .max() here, nor in what is inlined: numba would import SciPy to load the kernel, 0.15 s of every worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN
from gristmill.kernels.compile import BYTES_IN, I64_IN, kernel
from gristmill.kernels.duplicate_lines import count_newlines, duplicate_pieces, most_newlines
from gristmill.kernels.ngrams import ROOMS, duplicate_ngrams, lay_words, room_for, top_ngrams
from gristmill.kernels.spans import count_characters, with_padding
from gristmill.kernels.trim import stripped
from gristmill.kernels.vector import address
from gristmill.kernels.words import Words


class Repetition(NamedTuple):
    """Shares of duplicates among paragraphs, lines and characters; n-grams have a row for each n."""

    paragraphs: npt.NDArray[np.float64]
    paragraph_characters: npt.NDArray[np.float64]
    lines: npt.NDArray[np.float64]
    line_characters: npt.NDArray[np.float64]
    top: npt.NDArray[np.float64]
    duplicate: npt.NDArray[np.float64]


@kernel(
    [
        types.void(
            *(I64_IN, BYTES_IN, I64_IN, I64_IN, I64_IN, BYTES_IN, I64_IN, I64_IN, CHARACTERS_IN, room),
            types.Array(types.float64, 2, "C"),
        )
        for room in ROOMS
    ]
)
def _measure(
    offsets, bytes_, first, start, stop, word_bytes, top_lengths, duplicate_lengths, character_tables, room, out
):
    data = address(bytes_)
    characters = character_tables[0]
    top = np.empty(top_lengths.size, np.int64)
    duplicate = np.empty(duplicate_lengths.size, np.int64)
    duplicates_from = 4 + top_lengths.size
    for document in range(offsets.size - 1):
        begin, end = offsets[document], offsets[document + 1]
        if begin == end:
            out[:, document] = 0.0
            continue
        length = np.float64(count_characters(data, begin, end))
        newlines = count_newlines(data, begin, end)
        inner_begin, inner_end = stripped(data, begin, end, characters)
        pieces, duplicates, duplicate_characters = duplicate_pieces(data, inner_begin, inner_end, 2, newlines, room)
        out[0, document] = duplicates / pieces
        out[1, document] = duplicate_characters / length
        pieces, duplicates, duplicate_characters = duplicate_pieces(data, begin, end, 1, newlines, room)
        out[2, document] = duplicates / pieces
        out[3, document] = duplicate_characters / length

        words = first[document + 1] - first[document]
        blanks = lay_words(address(word_bytes), start, stop, first[document], first[document + 1], room)
        top_ngrams(words, top_lengths, blanks, room, top)
        for index in range(top_lengths.size):
            out[4 + index, document] = top[index] / length
        duplicate_ngrams(words, duplicate_lengths, room, duplicate)
        for index in range(duplicate_lengths.size):
            out[duplicates_from + index, document] = duplicate[index] / length


@kernel(types.int64(I64_IN, I64_IN, I64_IN))
def _most_word_bytes(first, start, stop):
    """Of any document: the bytes of all its words together."""
    most = np.int64(0)
    for document in range(first.size - 1):
        size = np.int64(0)
        for word in range(first[document], first[document + 1]):
            size += stop[word] - start[word]
        most = max(most, size)
    return most


def measure_repetition(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    words: Words,
    top_lengths: Sequence[int] = (2, 3, 4),
    duplicate_lengths: Sequence[int] = (5, 6, 7, 8, 9, 10),
) -> Repetition:
    """`top_lengths`, `duplicate_lengths`: the n of the n-grams to count, each at least 1."""
    own_data = words.data is data
    data = with_padding(data, int(offsets[-1]))
    words = words._replace(data=data if own_data else with_padding(words.data, len(words.data)))
    items = max(int(np.diff(words.first).max(initial=0)), most_newlines(offsets, data) + 1)
    room = room_for(int(_most_word_bytes(words.first, words.start, words.stop)), items, int(offsets[-1]))
    out = np.empty((4 + len(top_lengths) + len(duplicate_lengths), offsets.size - 1), np.float64)
    tops, duplicates = np.array(top_lengths, np.int64), np.array(duplicate_lengths, np.int64)
    _measure(offsets, data, *words, tops, duplicates, CHARACTERS, room, out)
    paragraphs, paragraph_characters, lines, line_characters = out[:4]
    top, duplicate = out[4 : 4 + len(tops)], out[4 + len(tops) :]
    return Repetition(paragraphs, paragraph_characters, lines, line_characters, top, duplicate)

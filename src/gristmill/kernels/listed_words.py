"""Which documents say a word of a list.

What enters: the buffers of a string column, and the list as a tree of its bytes (`word_tree`). What leaves: yes or no
for each document: `find_apart` wants a word to stand alone, between characters that are no part of a word (`\\W` of
Python's expressions) or the ends of the text; `find_anywhere` does not. Case is as it is written.

A listed word may hold blanks and marks. Time grows with the text, times the longest listed word at worst.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN, WORD, character
from gristmill.kernels.compile import BOOL_OUT, BYTES_IN, I32_OUT, I64_IN, inline, kernel
from gristmill.kernels.vector import address


class WordTree(NamedTuple):
    """Node 0 is the root; after[node * letters + letter] is the next node, 0 = no word goes on like this."""

    letter: npt.NDArray[np.int32]  # of each byte; 0 = in no word
    letters: int
    after: npt.NDArray[np.int32]
    ends: npt.NDArray[np.bool_]  # whether a word ends at the node


WORD_TREE = types.NamedTuple([I32_OUT, types.int64, I32_OUT, BOOL_OUT], WordTree)


def word_tree(words: Iterable[str]) -> WordTree:
    """The tree for a list of words; empty ones are left out."""
    encoded = sorted({word.encode() for word in words if word})
    letter = np.zeros(256, np.int32)
    for number, byte in enumerate(sorted({byte for word in encoded for byte in word})):
        letter[byte] = number + 1
    letters = int(letter.max()) + 1
    beginnings = sorted({word[:stop] for word in encoded for stop in range(1, len(word) + 1)})
    nodes = {beginning: node for node, beginning in enumerate([b"", *beginnings])}
    after = np.zeros(len(nodes) * letters, np.int32)
    for beginning in beginnings:
        after[nodes[beginning[:-1]] * letters + letter[beginning[-1]]] = nodes[beginning]
    ends = np.zeros(len(nodes), np.bool_)
    ends[[nodes[word] for word in encoded]] = True
    return WordTree(letter, letters, after, ends)


@inline
def _next(data, at, node, tree):
    return tree.after[node * tree.letters + tree.letter[data[at]]]


@inline
def _in_word(data, at, characters):
    return character(data, at, characters)[0] & WORD != 0


@inline
def _word_apart(data, at, stop, tree, characters):
    """Whether a listed word begins at `at` behind which no word goes on."""
    node = np.int64(0)
    while at < stop:
        node = np.int64(_next(data, at, node, tree))
        if node == 0:
            return False
        at += 1
        if tree.ends[node] and (at == stop or not _in_word(data, at, characters)):
            return True
    return False


@kernel(types.void(I64_IN, BYTES_IN, WORD_TREE, CHARACTERS_IN, BOOL_OUT))
def _find_apart(offsets, bytes_, tree, character_tables, found):
    characters = character_tables[0]
    data = address(bytes_)
    for document in range(offsets.size - 1):
        at, stop = offsets[document], offsets[document + 1]
        apart = True
        while at < stop and not found[document]:
            if apart and _next(data, at, 0, tree):
                found[document] = _word_apart(data, at, stop, tree, characters)
            here, width = character(data, at, characters)
            apart = here & WORD == 0
            at += width


@kernel(types.void(I64_IN, BYTES_IN, WORD_TREE, BOOL_OUT))
def _find_anywhere(offsets, bytes_, tree, found):
    data = address(bytes_)
    for document in range(offsets.size - 1):
        stop = offsets[document + 1]
        for start in range(offsets[document], stop):
            at = start
            node = np.int64(0)
            while at < stop:
                node = np.int64(_next(data, at, node, tree))
                at += 1
                if node == 0 or tree.ends[node]:
                    break
            if node != 0 and tree.ends[node]:
                found[document] = True
                break


def find_apart(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], tree: WordTree) -> npt.NDArray[np.bool_]:
    """For each document whether it has a word of the list, standing alone."""
    found = np.zeros(offsets.size - 1, np.bool_)
    _find_apart(offsets, data, tree, CHARACTERS, found)
    return found


def find_anywhere(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], tree: WordTree) -> npt.NDArray[np.bool_]:
    """For each document whether it has a word of the list, also within other words."""
    found = np.zeros(offsets.size - 1, np.bool_)
    _find_anywhere(offsets, data, tree, found)
    return found

"""What becomes of the lines of documents under C4's rules, counted as datatrove's C4QualityFilter counts.

What enters: the buffers of a string column, the bounds of its lines (or sentences), the rules, and which phrases end a
document. What leaves: how many lines there were, how many stayed, and how many each rule took.

The rules are those of kernels/c4_lines.py, but for their order, which there is that of their cost: a line that breaks
several is counted here for datatrove's first. And a line that speaks against the whole document is the last one of it
that is counted. So this is a pass of its own, only run where somebody wants the counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.c4_lines import (
    NO_LIMIT,
    RULES,
    Rules,
    copy_without_citations,
    ends_well,
    has_curly_bracket,
    has_long_word,
    has_words,
)
from gristmill.kernels.c4_phrases import JAVASCRIPT, LOREM_IPSUM, POLICY, phrases
from gristmill.kernels.characters import CHARACTERS, CHARACTERS_IN
from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, kernel
from gristmill.kernels.spans import with_padding
from gristmill.kernels.trim import stripped
from gristmill.kernels.vector import PADDING_BYTES, address, copy64

# datatrove's labels, in the order in which it looks.
LABELS = (
    "line-total",
    "line-filter-too_long_word",
    "line-filter-no_terminal_punc",
    "line-filter-too_few_words",
    "line-filter-javascript",
    "line-filter-policy",
    "line-kept",
)
_TOTAL, _LONG, _NO_MARK, _FEW, _JAVASCRIPT, _POLICY, _KEPT = range(len(LABELS))


@kernel(
    types.void(
        I64_IN, I64_IN, I64_IN, BYTES_IN, RULES, types.boolean, types.boolean, CHARACTERS_IN, BYTES_OUT, I64_OUT
    )
)  # fmt: skip
def _count(first, start, stop, bytes_, rules, ends_by_lorem, ends_by_curly, character_tables, room, counts):
    characters = character_tables[0]
    data, out = address(bytes_), address(room)
    for document in range(first.size - 1):
        for line in range(first[document], first[document + 1]):
            at, end = stripped(data, start[line], stop[line], characters)
            counts[_TOTAL] += 1
            limit = rules.max_word_characters
            if limit != NO_LIMIT and end - at > limit and has_long_word(data, at, end, characters, limit):
                counts[_LONG] += 1
                continue
            if rules.remove_citations:
                after = copy_without_citations(data, at, end, characters, out, 0)
            else:
                for done in range(0, end - at, PADDING_BYTES):
                    copy64(out, done, data, at + done)
                after = end - at
            if rules.require_terminal_mark and not ends_well(out, 0, after):
                counts[_NO_MARK] += 1
                continue
            if not has_words(data, at, end, characters, rules.min_words):
                counts[_FEW] += 1
                continue
            kinds = phrases(out, 0, after)
            if ends_by_lorem and kinds & LOREM_IPSUM:
                break
            if rules.drop_javascript and kinds & JAVASCRIPT:
                counts[_JAVASCRIPT] += 1
                continue
            if ends_by_curly and has_curly_bracket(out, 0, after):
                break
            if rules.drop_policy and kinds & POLICY:
                counts[_POLICY] += 1
                continue
            counts[_KEPT] += 1


def count_lines(
    lines: Any, data: npt.NDArray[np.uint8], rules: Rules, ends_by_lorem_ipsum: bool, ends_by_curly_bracket: bool
) -> dict[str, int]:
    """Label → lines. `lines`: first, start and stop, as `split_lines` or `split_sentences` gives them."""
    data = with_padding(data, int(lines.stop.max(initial=0)))
    room = np.empty(int((lines.stop - lines.start).max(initial=0)) + 2 * PADDING_BYTES, np.uint8)
    counts = np.zeros(len(LABELS), np.int64)
    bounds = lines.first, lines.start, lines.stop
    _count(*bounds, data, rules, ends_by_lorem_ipsum, ends_by_curly_bracket, CHARACTERS, room, counts)
    return dict(zip(LABELS, counts.tolist(), strict=True))

"""Documents without some of their spans of sentences, and the same with marks around what went.

What enters: texts, and for each the sentences (or lines) at which duplicate spans begin, ascending. What leaves is
datatrove's, with what is odd about it: of a run of sentences that go, only the first counts towards, and comes back
for, `min_words_to_remove_span`; what follows the last sentence is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gristmill.dedup.sentences import Sentences
from gristmill.document import buffers, large_strings

_OPEN, _CLOSE = ">>>", "<<<"


class Cut(NamedTuple):
    """What becomes of a document."""

    text: str
    marked: str | None  # the whole text, with marks; None where nothing was looked for
    is_kept: bool


class _Changed(NamedTuple):
    text: str
    marked: str
    pieces: int
    removed: int  # that are not in `text`


def cut(texts: Any, begins: Sequence[Sequence[int]], config: Any) -> list[_Changed]:
    """Each text without the spans of `config.n_sentences` that begin there."""
    offsets, data = buffers(texts)
    pieces, _ = Sentences(config.n_sentences, config.split_sentences).pieces(offsets, data)
    raw: Any = memoryview(data)  # type: ignore[arg-type]
    changed = []
    for row, ((start, stop), of_text) in enumerate(zip(pairwise(pieces.first), begins, strict=True)):
        if config.split_sentences:
            bounds = pieces.stop[start:stop].copy()
            if len(bounds):
                bounds[-1] = _end_of_last(bytes(raw[offsets[row] : offsets[row + 1]]), int(offsets[row]))
            parts = [str(raw[at:end], "utf-8") for at, end in pairwise([int(offsets[row]), *bounds.tolist()])]
        else:
            lines = zip(pieces.start[start:stop].tolist(), pieces.stop[start:stop].tolist(), strict=True)
            parts = [str(raw[at:end], "utf-8") for at, end in lines]
        changed.append(_without(parts, of_text, config))
    return changed


def _end_of_last(text: bytes, begin: int) -> int:
    """spaCy's last sentence ends before one blank that follows a word."""
    ends_with_blank = text.endswith(b" ") and not text.decode()[-2:-1].isspace() and len(text) > 1
    return begin + len(text) - ends_with_blank


def _without(parts: list[str], begins: Sequence[int], config: Any) -> _Changed:
    goes = [False] * len(parts)
    for begin in begins:
        goes[begin : begin + config.n_sentences] = [True] * len(goes[begin : begin + config.n_sentences])
    kept: list[str] = []
    marked: list[str] = []
    for number, part in enumerate(parts):
        before = number > 0 and goes[number - 1]
        if goes[number] and not before:
            marked.append(_OPEN)
            if _comes_back(part, config):
                kept.append(part)
        elif before and not goes[number]:
            marked.append(_CLOSE)
        marked.append(part)
        if not goes[number]:
            kept.append(part)
    if goes and goes[-1]:
        marked.append(_CLOSE)
    between = "" if config.split_sentences else "\n"
    return _Changed(between.join(kept).lstrip(), between.join(marked), len(parts), len(parts) - len(kept))


def _comes_back(part: str, config: Any) -> bool:
    least: int = config.min_words_to_remove_span
    return least > 0 and _words([part])[0] < least


def is_left_enough(texts: Sequence[str], config: Any) -> list[bool]:
    """Which texts have as many words and sentences as the config asks for."""
    from gristmill.kernels.sentences import split_sentences
    from gristmill.kernels.words import split_words

    column = large_strings(list(texts))
    offsets, data = buffers(column)
    words = split_words(offsets, data)
    enough = np.diff(words.first) >= config.min_doc_words
    enough &= np.diff(split_sentences(offsets, data, words).first) >= config.min_num_sentences
    found: list[bool] = enough.tolist()
    return found


def _words(texts: list[str]) -> list[int]:
    from gristmill.kernels.words import split_words

    counts: list[int] = np.diff(split_words(*buffers(large_strings(texts))).first).tolist()
    return counts

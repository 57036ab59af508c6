"""Which words a text has: the choice `words` of the filters that count them.

spacy-en     spaCy's blank English tokenizer, datatrove's default for any language: by a kernel, exactly
whitespace   runs between white space, as str.split(); by a kernel
LANGUAGE     datatrove's own tokenizer of that language (`vie`, `fr`, `jpn_Jpan`): its Python, at its speed, and
             only where datatrove and what that tokenizer needs are installed
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from gristmill.document import Bytes, Offsets, buffers, strings

if TYPE_CHECKING:
    from gristmill.kernels.words import Words

DEFAULT, WHITESPACE = "spacy-en", "whitespace"
_LANGUAGE = re.compile(r"[a-z]{2,3}(_[A-Z][a-z]{3})?")


def check_splitter(name: object) -> None:
    """Raises ValueError for what no splitter is called."""
    if not isinstance(name, str) or (name not in (DEFAULT, WHITESPACE) and not _LANGUAGE.fullmatch(name)):
        raise ValueError(
            f"expected words: {DEFAULT}, {WHITESPACE}, or a language that datatrove has a tokenizer for "
            f"(such as vie or jpn_Jpan), found {name!r}"
        )


def split(name: str, offsets: Offsets, data: Bytes) -> Words:
    """The words of each text between `offsets`."""
    from gristmill.kernels.words import Words, split_at_white_space, split_words

    if name == DEFAULT:
        return split_words(offsets, data)
    if name == WHITESPACE:
        return split_at_white_space(offsets, data)
    tokenize = datatrove_tokenizer(name).word_tokenize
    words = [tokenize(text) for text in strings(offsets, data).to_pylist()]
    bounds, joined = buffers(pa.array([word for of_text in words for word in of_text], pa.large_string()))
    first = np.cumsum([0, *map(len, words)], dtype=np.int64)
    return Words(first, bounds[:-1], bounds[1:], joined)


@lru_cache(maxsize=4)
def datatrove_tokenizer(language: str) -> Any:
    """datatrove's tokenizer of this language."""
    try:
        from datatrove.utils.word_tokenizers import load_word_tokenizer
    except ImportError as error:
        raise ValueError(
            f"`words: {language}` is a tokenizer of datatrove's, which is not installed\n"
            "  Run `pip install 'gristmill[datatrove]'`, or choose spacy-en or whitespace."
        ) from error
    return load_word_tokenizer(language)

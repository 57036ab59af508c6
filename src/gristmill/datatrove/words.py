"""datatrove's languages by the names that our word splitters have."""

from __future__ import annotations

from typing import Any

from datatrove.utils.word_tokenizers import SpaCyTokenizer, load_word_tokenizer

from gristmill.filters.words import DEFAULT


def is_english(language: Any) -> bool:
    """Whether datatrove takes spaCy's blank English tokenizer for it, which is what our kernels know."""
    tokenizer = load_word_tokenizer(language)
    return type(tokenizer) is SpaCyTokenizer and tokenizer.language == "en" and tokenizer.config is None


def splitter_of(language: Any) -> str:
    """The name for `words` of our filters. Raises ValueError where there is none."""
    if is_english(language):
        return DEFAULT
    if not isinstance(language, str):
        raise ValueError(f"no kernel knows the words of {language!r}")
    return language

"""Parameters by language, as FineWeb-2 (https://arxiv.org/abs/2506.20920) has them.

What enters: a filter's name, and a language (`vie_Latn`) or a file in the format of FineWeb-2's configs/LANGUAGE.yml.
What leaves: parameters of that filter, by our names. In a recipe it is `preset: vie_Latn` or `parameters_file: FILE`
among a filter's parameters; those beside it win. They are put in when the recipe is read, so that fingerprints, and
the recipe that is saved with the output, hold the values.

Beside what differs by language a preset sets what FineWeb-2 set for all: no rules on paragraphs and short lines, a
larger share of repeated lines. It sets `words` to the language, that is, to datatrove's own tokenizer of it, which the
thresholds were found with; `words: whitespace` or `spacy-en` beside the preset is faster, and not what FineWeb-2 did.
For `language` it names GlotLID's label and score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

from gristmill.errors import unknown_name
from gristmill.formats import resource

# Filter → its parameter → the key of FineWeb-2's files.
_BY_LANGUAGE = {
    "gopher_repetition": {
        "max_duplicate_lines": "dup_line_frac",
        "max_top_ngrams": "top_n_grams",
        "max_duplicate_ngrams": "dup_n_grams",
    },
    "gopher_quality": {
        "min_average_word_length": "min_avg_word_length",
        "max_average_word_length": "max_avg_word_length",
        "min_alphabetic_words_ratio": "max_non_alpha_words_ratio",
        "stop_words": "stopwords",
    },
    "fineweb_quality": {"min_line_punctuation_ratio": "line_punct_thr", "max_newline_word_ratio": "new_line_ratio"},
    "language": {"threshold": "language_score"},
}
# Filter → its parameter → the value for all languages.
_FOR_ALL: dict[str, dict[str, Any]] = {
    "gopher_repetition": {
        "max_duplicate_paragraphs": None,
        "max_duplicate_paragraph_characters": None,
        "max_duplicate_line_characters": None,
    },
    "gopher_quality": {"min_stop_words": 2},
    "fineweb_quality": {"max_short_line_ratio": None, "max_duplicate_line_characters": 0.1},
    "language": {},
}
_KEYS = sorted({key for keys in _BY_LANGUAGE.values() for key in keys.values()})
_LANGUAGE = re.compile("[a-z]{3}_[A-Z][a-z]{3}")


def preset(filter_name: str, language: str) -> dict[str, Any]:
    """A filter's parameters for one of the languages that are embedded. Raises ValueError as a sentence."""
    known = languages()
    if language not in known:
        raise ValueError(
            f"{unknown_name('language', str(language), known)} For others, give FineWeb-2's file as `parameters_file`."
        )
    return _parameters(filter_name, language, known[language])


def preset_of_file(filter_name: str, address: str) -> dict[str, Any]:
    """A filter's parameters from a file like FineWeb-2's, which is named after its language: vie_Latn.yml."""
    import yaml

    language = PurePosixPath(address).stem
    if not _LANGUAGE.fullmatch(language):
        raise ValueError(f"expected a file named after its language, such as vie_Latn.yml, found {address}")
    try:
        values = yaml.safe_load(resource.read_bytes(address))
    except yaml.YAMLError as error:
        raise ValueError(f"expected YAML, found something else: {address} ({error})") from error
    if not isinstance(values, Mapping):
        raise ValueError(f"expected keys and values, such as dup_line_frac: 0.3, found none: {address}")
    for key in values:
        if key not in _KEYS:
            raise ValueError(f"{unknown_name('key', str(key), _KEYS)} In {address}.")
    return _parameters(filter_name, language, values)


@lru_cache(maxsize=1)
def languages() -> dict[str, dict[str, Any]]:
    """The embedded languages, and what FineWeb-2's file of each holds."""
    import yaml

    table = files("gristmill.filters").joinpath("data/fineweb2.yaml").read_text("utf-8")
    of_language: dict[str, dict[str, Any]] = yaml.safe_load(table)
    return of_language


def _parameters(filter_name: str, language: str, values: Mapping[str, Any]) -> dict[str, Any]:
    if filter_name not in _BY_LANGUAGE:
        raise ValueError(unknown_name("filter with parameters by language", filter_name, _BY_LANGUAGE))
    keys = _BY_LANGUAGE[filter_name]
    missing = [key for key in keys.values() if key not in values]
    if missing:
        raise ValueError(f"expected {', '.join(keys.values())} for {language}, found no {', '.join(missing)}")
    found = {parameter: values[key] for parameter, key in keys.items()}
    own = {"keep": [language]} if filter_name == "language" else {"words": language}
    return {**found, **_FOR_ALL[filter_name], **own}

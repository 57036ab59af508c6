"""datatrove's own filter in the place of one of ours, with the same parameters: the judge of `gristmill verify`, and
who judges under `engine: {blocks: datatrove}`.

What enters: a filter of ours. What leaves: a `Judge` that gives verdicts as ours are written, one text at a time, at
datatrove's speed. Needs datatrove, an extra.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gristmill.errors import RecipeError
from gristmill.filters.filter import Filter
from gristmill.filters.regex import Regex
from gristmill.filters.url import LISTS, Url

UNNAMED = "dropped"  # the verdict where datatrove gives no reason

# Our filter's name → datatrove's class, and what it is given beside what both have.
_PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gopher_repetition": ("GopherRepetitionFilter", {}),
    "gopher_quality": ("GopherQualityFilter", {}),
    "fineweb_quality": ("FineWebQualityFilter", {}),
    "c4_quality": ("C4QualityFilter", {}),
    "c4_paragraphs": ("C4ParagraphFilter", {}),
    "language": ("LanguageFilter", {"backend": "ft176"}),
    "fasttext_classifier": ("FastTextClassifierFilter", {"save_labels_in_metadata": False}),
    "url": ("URLFilter", {"use_integrated_lists": False}),
    "regex": ("RegexFilter", {}),
}
_OFF = {"c4_quality": -1}  # what datatrove writes for our null, where it is not None
_LABEL_SCORES = {"keep_labels", "remove_labels"}  # datatrove adds lists of them up
# Our filter's name → what of datatrove's holds the fastText model.
_MODEL_HOLDERS: dict[str, Callable[[Any], Any]] = {
    "language": lambda judge: judge.model,
    "fasttext_classifier": lambda judge: judge,
}
_LANGUAGES = {"spacy-en": "eng"}  # our name of a word splitter → the language for which datatrove uses it


@dataclass(frozen=True)
class Judge:
    """datatrove's filter."""

    name: str  # of our filter
    theirs: Any
    url_column: str | None = None  # the metadata in which datatrove looks for `url`
    without_url: str | None = None  # the verdict on a document that has none: datatrove would stop there

    def verdict(self, text: str, metadata: dict[str, Any]) -> tuple[str | None, str]:
        """Null = keep, else `filter.reason`, or UNNAMED; and the text as datatrove leaves it."""
        verdict, document = self.judged(text, metadata)
        return verdict, document.text

    def judged(self, text: str, metadata: dict[str, Any]) -> tuple[str | None, Any]:
        """The same, and the document as datatrove leaves it."""
        from datatrove.data import Document

        document = Document(text=text, id="", metadata=dict(metadata))
        if self.url_column is not None:
            if not metadata.get(self.url_column):
                return self.without_url, document
            document.metadata = {"url": metadata[self.url_column]}
        result = self.theirs.filter(document)
        kept, reason = result if isinstance(result, tuple) else (result, None)
        if kept:
            return None, document
        return (f"{self.name}.{reason}" if reason else UNNAMED), document


def judge_of(unit: Filter) -> Judge | None:
    """The judge of a filter, or None where datatrove has none like it."""
    if unit.NAME not in _PEERS or (isinstance(unit, Regex) and unit.drop is None):
        return None
    class_name, given = _PEERS[unit.NAME]
    try:
        filters = importlib.import_module("datatrove.pipeline.filters")
    except ImportError as error:
        raise RecipeError(
            "expected datatrove, the judge of filters, found it is not installed\n"
            "  Run `pip install 'gristmill[datatrove]'`."
        ) from error
    theirs = getattr(filters, class_name)
    aliases: dict[str, str] = getattr(type(unit), "ALIASES", {})
    arguments = dict(given)
    for name in inspect.signature(theirs.__init__).parameters:
        ours = aliases.get(name, name)
        if name not in arguments and hasattr(unit, ours) and not callable(getattr(unit, ours)):
            value = getattr(unit, ours)
            arguments[name] = _OFF.get(unit.NAME) if value is None else value
    if getattr(unit, "thresholds", ()):
        return None  # datatrove has one threshold for all languages
    for name in _LABEL_SCORES & arguments.keys():
        arguments[name] = list(arguments[name]) or None
    if "language" in arguments:
        arguments["language"] = _LANGUAGES.get(arguments["language"], arguments["language"])
        if arguments["language"] == "whitespace":
            return None  # datatrove always splits words by a language's rules
    if isinstance(unit, Url):
        return _url_judge(unit, theirs, arguments)
    judge = theirs(**arguments)
    if unit.NAME in _MODEL_HOLDERS:
        _MODEL_HOLDERS[unit.NAME](judge)._model = _fasttext_model(unit)
    return Judge(unit.NAME, judge)


def _url_judge(unit: Url, theirs: Any, arguments: dict[str, Any]) -> Judge:
    """With what the lists' files hold, and with the public suffix list that we ask, not the one of today."""
    from gristmill.filters.hosts import suffix_list

    for name in LISTS:
        arguments[{"domains": "extra_domains", "urls": "extra_urls"}.get(name, name)] = unit.entries(name)
    judge = theirs(**arguments)
    judge.tldextractor = suffix_list()
    return Judge(unit.NAME, judge, unit.column(), "url.missing" if unit.missing == "drop" else None)


def _fasttext_model(unit: Any) -> Any:
    """Our filter's model, read by fastText: datatrove would download another, or a copy that may be old."""
    from fasttext.FastText import _FastText

    from gristmill.filters.fasttext_file import address_of
    from gristmill.formats.resource import local_path

    return _FastText(local_path(address_of(unit.model)))

"""Drops documents by where they come from, decided as datatrove 0.10.1's URLFilter decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from gristmill.errors import unknown_name
from gristmill.filters.aliases import also_known_as
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView
from gristmill.formats import resource

LISTS = ("domains", "urls", "banned_words", "soft_banned_words", "banned_subwords")
MISSING = ("drop", "keep")

# List, signal, datatrove's reason; in datatrove's order.
_RULES = (
    ("domains", "domain", "domain"),
    ("domains", "subdomain", "subdomain"),
    ("urls", "url", "url"),
    ("banned_words", "banned_words", "hard_blacklisted"),
    ("soft_banned_words", "soft_banned_words", "soft_blacklisted"),
    ("banned_subwords", "banned_subwords", "blacklisted_subword"),
)


@also_known_as(extra_domains="domains", extra_urls="urls", column="url_column")
@dataclass(frozen=True)
class Url(Filter):
    """Drops a document by its URL. Each list is optional; datatrove's names, which are taken too, and its reasons:

        domains               extra_domains   domain               the registered domain (example.co.uk) is one
                                              subdomain            the whole host is one
        urls                  extra_urls      url                  the URL is one, character for character
        banned_words          the same        hard_blacklisted     a word of the URL is one
        soft_banned_words     the same        soft_blacklisted     words of the URL are: as many different ones as
        soft_word_threshold   the same                             this says
        banned_subwords       the same        blacklisted_subword  one stands in the URL's letters and digits
        files                                                      {list: file or files}, an entry a line, for more
        url_column (column)                                        the metadata that holds the URL
        missing                               missing              what becomes of who has no URL: drop, keep

    Words are what is between other characters than A-Z, a-z and 0-9; of the lists' entries only these characters
    count, in lower case. As in datatrove, case counts in a URL's words and in its host (`Example.com` is not
    `example.com`), but not for banned_subwords; entries that begin with # are comments. Which part of a host is
    registered is for the public suffix list to say (filters/hosts.py). No lists are embedded, so this is datatrove's
    filter with use_integrated_lists=False; where a document has no URL, that one stops with an error.
    `verdicts(urls)` takes URLs.
    Dropped by `domains: [example.com]`: "https://www.example.com/x" (domain).
    """

    NAME: ClassVar[str] = "url"

    domains: Sequence[str] = ()
    urls: Sequence[str] = ()
    banned_words: Sequence[str] = ()
    soft_banned_words: Sequence[str] = ()
    soft_word_threshold: int = 2
    banned_subwords: Sequence[str] = ()
    files: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    url_column: str = "url"
    missing: str = "drop"

    def __post_init__(self) -> None:
        for name in LISTS:
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        if not isinstance(self.files, Mapping):
            raise ValueError(f"expected files: {{list: file}}, such as {{domains: blocked.txt}}, found {self.files!r}")
        for name in self.files:
            if name not in LISTS:
                raise ValueError(unknown_name("list of URLs or words", str(name), LISTS))
        files = {
            name: _texts(f"files.{name}", [given] if isinstance(given, str) else given)
            for name, given in sorted(self.files.items())
        }
        object.__setattr__(self, "files", files)
        if not self._given():
            raise ValueError(f"expected at least one list: {', '.join(LISTS)}, or files of them; found none")
        threshold = self.soft_word_threshold
        if isinstance(threshold, bool) or not isinstance(threshold, int) or threshold < 1:
            raise ValueError(f"expected soft_word_threshold: a whole number from 1 up, found {threshold!r}")
        if not isinstance(self.url_column, str) or self.url_column in ("", "text", "id"):
            raise ValueError(f"expected url_column: a name of metadata, found {self.url_column!r}")
        if self.missing not in MISSING:
            raise ValueError(f"expected missing: {' or '.join(MISSING)}, found {self.missing!r}")

    def column(self) -> str:
        """The metadata that holds the URL."""
        return self.url_column

    def entries(self, name: str) -> tuple[str, ...]:
        """All that one of the lists holds, its files read."""
        return _entries(getattr(self, name), self.files.get(name, ()))

    def contents(self) -> dict[str, Any]:
        """The files, by what they hold."""
        return {"files": {name: [resource.digest(address) for address in of] for name, of in self.files.items()}}

    def measuring(self) -> dict[str, Any]:
        """The lists, and where URLs are."""
        return {"column": self.url_column, **{name: getattr(self, name) for name in LISTS}, **self.contents()}

    def measure(self, view: TextView) -> Signals:
        """0 or 1; of words, how many different ones. Only for lists that are given."""
        from gristmill.filters import url_words

        signals: Signals = {"url.missing": (view.lengths_bytes == 0).astype(np.int8)}
        given = self._given()
        if "domains" in given:
            from gristmill.filters.hosts import hosts

            blocked = frozenset(entry.strip() for entry in self.entries("domains"))
            which, different = hosts(view.offsets, view.data)
            domains = np.array([host.registered_domain in blocked for host in different], np.int8)
            names = np.array([host.name in blocked for host in different], np.int8)
            signals["url.domain"], signals["url.subdomain"] = domains[which], names[which]
        if "urls" in given:
            exact = frozenset(entry.strip() for entry in self.entries("urls"))
            signals["url.url"] = np.fromiter((url in exact for url in view.texts.to_pylist()), np.int8, len(view))
        for name in ("banned_words", "soft_banned_words"):
            if name in given:
                signals[f"url.{name}"] = url_words.whole_words(self.entries(name)).count(view.offsets, view.data)
        if "banned_subwords" in given:
            subwords = url_words.subwords(self.entries("banned_subwords"))
            signals["url.banned_subwords"] = subwords.count(view.offsets, view.data)
        return signals

    def rules(self) -> list[Rule]:
        """One for being missing, and those of the lists that are given."""
        given = self._given()
        return [
            *([Rule("url.missing", None, 0, "missing")] if self.missing == "drop" else []),
            *(
                Rule(f"url.{signal}", None, self.soft_word_threshold - 1 if name == "soft_banned_words" else 0, reason)
                for name, signal, reason in _RULES
                if name in given
            ),
        ]

    def _given(self) -> list[str]:
        return [name for name in LISTS if getattr(self, name) or self.files.get(name)]


def _texts(name: str, items: Any) -> tuple[str, ...]:
    if isinstance(items, str) or not all(isinstance(item, str) and item for item in items):
        raise ValueError(f"expected {name}: a list of texts, none empty, found {items!r}")
    return tuple(items)


@lru_cache(maxsize=16)
def _entries(own: tuple[str, ...], files: tuple[str, ...]) -> tuple[str, ...]:
    of_files = [line for address in files for line in resource.read_lines(address)]
    return tuple(entry for entry in (*own, *of_files) if not entry.startswith("#"))

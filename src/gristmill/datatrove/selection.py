"""Filters that look at a pattern, at the URL, or at nothing."""

from __future__ import annotations

import re
from typing import Any

from datatrove.pipeline import filters as theirs

from gristmill.datatrove.batches import column_of
from gristmill.datatrove.judging import NO_REASON, JudgesBatches, JudgesByUnit, Verdicts
from gristmill.filters.filter import Filter
from gristmill.filters.regex import Regex
from gristmill.filters.url import Url


class RegexFilter(JudgesByUnit, theirs.RegexFilter):
    """See gristmill.filters.Regex."""

    def make_unit(self) -> Filter:
        """With the pattern, if it is one and nothing else."""
        if re.compile(self.regex.pattern).flags != self.regex.flags:
            raise ValueError("the pattern has flags that do not stand in it")
        return Regex(drop=self.regex.pattern)

    def judge(self, batch: list[Any], texts: Any) -> Verdicts:
        """datatrove names no reason."""
        return [None if verdict is None else NO_REASON for verdict in super().judge(batch, texts)]


class URLFilter(JudgesByUnit, theirs.URLFilter):
    """See gristmill.filters.Url. With the public suffix list that tldextract carries, not with the one of today."""

    def make_unit(self) -> Filter:
        """With datatrove's lists, its integrated ones among them, and the given ones."""
        self.download_data()
        lists = {
            "domains": self.block_listed_domains,
            "urls": self.block_listed_url,
            "banned_words": self.banned_words,
            "banned_subwords": self.banned_subwords,
            "soft_banned_words": self.soft_banned_words,
        }
        given: dict[str, Any] = {name: tuple(entries) for name, entries in lists.items() if entries}
        return Url(**given, soft_word_threshold=self.soft_word_threshold)

    def judge(self, batch: list[Any], texts: Any) -> Verdicts:
        """By metadata["url"], which every document has to have."""
        urls = [document.metadata.get("url") for document in batch]
        assert all(urls), "Document does not have url in its metadata"
        column = column_of(urls)
        return self.judge_each(batch) if column is None else super().judge(batch, column)


class SamplerFilter(JudgesBatches, theirs.SamplerFilter):
    """Draws the same numbers from the same seed."""

    def judge(self, batch: list[Any], texts: Any) -> Verdicts:
        """One number a document."""
        return [None if number < self.rate else NO_REASON for number in self.uniform(size=len(batch))]

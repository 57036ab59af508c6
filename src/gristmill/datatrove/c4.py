"""C4's filters."""

from __future__ import annotations

from typing import Any

from datatrove.pipeline.filters import c4_filters as theirs

from gristmill.datatrove import stats
from gristmill.datatrove.judging import JudgesBatches, JudgesByUnit, Verdicts
from gristmill.datatrove.words import splitter_of
from gristmill.document import buffers
from gristmill.filters.bad_words import lower_case
from gristmill.filters.c4_paragraphs import C4Paragraphs
from gristmill.filters.c4_quality import C4Quality
from gristmill.filters.filter import Filter
from gristmill.filters.view import TextView

_QUALITY = (
    "split_paragraph",
    "remove_citations",
    "filter_no_terminal_punct",
    "min_num_sentences",
    "min_words_per_line",
    "max_word_length",
    "filter_lorem_ipsum",
    "filter_javascript",
    "filter_curly_bracket",
    "filter_policy",
)


class C4QualityFilter(JudgesByUnit, theirs.C4QualityFilter):
    """See gristmill.filters.C4Quality."""

    def make_unit(self) -> Filter:
        """With datatrove's names, which ours take too."""
        named: dict[str, Any] = {"language": splitter_of(self.language)}
        return C4Quality(**named, **{name: getattr(self, name) for name in _QUALITY})

    def note(self, view: TextView, unit: Filter) -> None:
        """What became of the lines."""
        assert isinstance(unit, C4Quality)
        for label, times in unit.count_lines(view).items():
            stats.count(self, label, times)


class C4ParagraphFilter(JudgesByUnit, theirs.C4ParagraphFilter):
    """See gristmill.filters.C4Paragraphs."""

    def make_unit(self) -> Filter:
        """datatrove's numbers are attributes, not parameters."""
        if self.line_delimiter != "\n":
            raise ValueError(f"lines end with {self.line_delimiter!r}")
        if self.min_paragraphs > 3:
            raise ValueError("of more than three paragraphs datatrove measures three")
        return C4Paragraphs(self.min_paragraphs, self.min_paragraph_len)


class C4BadWordsFilter(JudgesBatches, theirs.C4BadWordsFilter):
    """As gristmill.filters.BadWords, with datatrove's lists and its draws."""

    def judge(self, batch: list[Any], texts: Any) -> Verdicts:
        """Looks for words language by language, draws document by document."""
        languages = [document.metadata.get("language", self.default_language) for document in batch]
        says: dict[int, bool] = {}
        for language in dict.fromkeys(languages):
            find = self._finder(language)
            rows = [row for row, own in enumerate(languages) if own == language]
            if find is not None:
                says |= dict(zip(rows, find(*buffers(lower_case(texts.take(rows)))), strict=True))
        return [self._verdict(language, says.get(row)) for row, language in enumerate(languages)]

    def _verdict(self, language: str, says_one: bool | None) -> str | None:
        if says_one is None:
            self.stat_update("missing_badwords_lang", f"missing_badwords_lang_{language}")
            return None
        if not says_one:
            return None
        self.stat_update("documents_with_badwords", f"documents_with_badwords_{language}")
        if self.keep_fraction > 0.0 and self.uniform() < self.keep_fraction:
            self.stat_update("document_kept_with_badwords", f"document_kept_with_badwords_{language}")
            return None
        self.stat_update(f"document_removed_with_badwords_{language}")
        return "document_removed_with_badwords"

    def _finder(self, language: str) -> Any:
        """What looks for the words of a language's list, which datatrove downloads; None where there is no list."""
        from gristmill.filters.bad_words import finder

        known = self.__dict__.setdefault("_finders", {})
        if language not in known:
            known[language] = None
            if language in theirs._BADWORDS_LANGS or self.fail_on_missing_language:
                self._get_badwords(language)  # downloads the list, or says that there is none
                address = theirs._EN_BADWORDS_URL if language == "en" else theirs._BADWORDS_URL + language
                path = theirs.cached_asset_path_or_download(address, namespace="filters", subfolder="c4_badwords")
                with open(path, encoding="utf-8") as file:
                    words = {line.strip() for line in file}
                known[language] = finder(language, words.difference(*theirs._BADWORDS_ALLOWLIST.values()))
        return known[language]

"""Lines that are no sentences, pages that are no prose: C4's rules, decided as datatrove 0.10.1 decides them."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.document import strings
from gristmill.filters.aliases import also_known_as
from gristmill.filters.filter import RewritingFilter, Rule, Signals
from gristmill.filters.sentences import check_sentence_splitter, split
from gristmill.filters.view import TextView
from gristmill.filters.words import DEFAULT

if TYPE_CHECKING:
    from gristmill.kernels.c4_lines import KeptLines, Rules

_OFF = -1  # datatrove's word for null
_NOT_OF_LINES = ("min_sentences", "drop_lorem_ipsum", "drop_curly_brackets", "words")


class _Kept(NamedTuple):
    lines: KeptLines
    view: TextView  # of them


@also_known_as(
    split_paragraph="split_lines",
    filter_no_terminal_punct="require_terminal_mark",
    min_num_sentences="min_sentences",
    filter_javascript="drop_javascript_lines",
    filter_policy="drop_policy_lines",
    filter_lorem_ipsum="drop_lorem_ipsum",
    filter_curly_bracket="drop_curly_brackets",
    language="words",
)
@dataclass(frozen=True)
class C4Quality(RewritingFilter):
    """Takes out lines that are no sentences, and drops a document of which too little is left or that is no prose.

    From section 2.2 of "Exploring the Limits of Transfer Learning" (https://arxiv.org/abs/1910.10683) and its code;
    the defaults are its thresholds. None (in datatrove -1) leaves a rule out. datatrove's names, which are taken too:

        max_word_length         the same                   lines with a longer word go; in characters
        remove_citations        the same                   `[1]`, `[]`, `[edit]`, `[citation needed]` are taken out
        require_terminal_mark   filter_no_terminal_punct   lines without . ? ! " ' at their end go; those with `...`
        min_words_per_line      the same                   lines with fewer words go; words as white space parts them
        drop_javascript_lines   filter_javascript          lines with the word go
        drop_policy_lines       filter_policy              lines on cookies, privacy and terms of use go
        split_lines             split_paragraph            false: the same for sentences instead of lines
        drop_lorem_ipsum        filter_lorem_ipsum         documents that say it        (reason: lorem_ipsum)
        drop_curly_brackets     filter_curly_bracket       documents with a `{`         (reason: curly_bracket)
        min_sentences           min_num_sentences          sentences in the lines left  (reason: too_few_sentences)
        words                   language                   which sentences: see filters/sentences.py

    The last four only judge what the others leave: a change of theirs reads no text. Lines that go are not looked at
    for `lorem ipsum` and `{`. Dropped: "Home\\nAbout us\\nThe end of it." (too_few_sentences).
    """

    NAME: ClassVar[str] = "c4_quality"

    split_lines: bool = True
    remove_citations: bool = True
    require_terminal_mark: bool = True
    min_sentences: int | None = 5
    min_words_per_line: int | None = 3
    max_word_length: int | None = 1000
    drop_lorem_ipsum: bool = True
    drop_javascript_lines: bool = True
    drop_curly_brackets: bool = True
    drop_policy_lines: bool = True
    words: str = DEFAULT

    def __post_init__(self) -> None:
        check_sentence_splitter(self.words)
        for name in ("min_sentences", "min_words_per_line", "max_word_length"):
            bound = getattr(self, name)
            if bound == _OFF:
                object.__setattr__(self, name, None)
            elif bound is not None and (isinstance(bound, bool) or not isinstance(bound, int) or bound < 0):
                raise ValueError(f"expected {name}: a whole number from 0 up, or null, found {bound!r}")
        for field in dataclasses.fields(self):
            if isinstance(field.default, bool) and not isinstance(getattr(self, field.name), bool):
                raise ValueError(f"expected {field.name}: true or false, found {getattr(self, field.name)!r}")

    def measuring(self) -> dict[str, Any]:
        """What takes lines out, and the sentences, if they are counted."""
        of_lines = {name: value for name, value in dataclasses.asdict(self).items() if name not in _NOT_OF_LINES}
        counted = self.min_sentences is not None
        return {**of_lines, "sentences": counted, "words": self.words if counted or not self.split_lines else None}

    def measure(self, view: TextView) -> Signals:
        """What the kept lines hold."""
        kept = self._kept(view)
        signals: Signals = {
            "c4_quality.lorem_ipsum_lines": kept.lines.lorem_ipsum,
            "c4_quality.curly_bracket_lines": kept.lines.curly,
            "c4_quality.curly_bracket_first": kept.lines.curly_first,
        }
        if self.min_sentences is not None:
            first = kept.lines.first
            if self.split_lines:
                first = split(self.words, kept.view).first[first]
            signals["c4_quality.sentences"] = np.diff(first)
        return signals

    def rewritten(self, view: TextView) -> Any:
        """The kept lines."""
        return self.rewritten_view(view).texts

    def rewritten_view(self, view: TextView) -> TextView:
        """The kept lines, and their words if sentences were made of them: a newline between two lines changes none."""
        from gristmill.kernels.c4_lines import join_lines
        from gristmill.kernels.c4_words import words_of_documents

        lines, of_lines = self._kept(view)
        joined = join_lines(lines, "\n" if self.split_lines else " ")
        left = view.beside(strings(joined.offsets, joined.data))
        if self._splits_words():
            data = left.data
            left.know_words(DEFAULT, lambda: words_of_documents(lines, of_lines.words(DEFAULT), joined, data))
        return left

    def rules(self) -> list[Rule]:
        """Those that are on."""
        counted = self.min_sentences is not None
        rules = [
            (self.drop_lorem_ipsum, Rule("c4_quality.lorem_ipsum_lines", None, 0, "lorem_ipsum")),
            (self.drop_curly_brackets, Rule("c4_quality.curly_bracket_lines", None, 0, "curly_bracket")),
            (counted, Rule("c4_quality.sentences", self.min_sentences, None, "too_few_sentences")),
        ]
        return [rule for is_on, rule in rules if is_on]

    def signal_names(self) -> list[str]:
        """Those of the rules, and which of the first two to name."""
        return [*super().signal_names(), "c4_quality.curly_bracket_first"]

    def broken_rules(self, signals: Signals) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """As the rules say, but the reason is the one that comes first in the text."""
        broken = dict(super().broken_rules(signals))
        if self.drop_lorem_ipsum and self.drop_curly_brackets:
            broken["c4_quality.lorem_ipsum"] &= np.asarray(signals["c4_quality.curly_bracket_first"]) == 0
        return list(broken.items())

    def marks(self, text: str, reason: str) -> list[tuple[int, int]]:
        """What the text says that it should not. Of too few sentences there is nothing to mark."""
        patterns = {"lorem_ipsum": "(?i)lorem ipsum", "curly_bracket": "{"}
        return [match.span() for match in re.finditer(patterns[reason], text)] if reason in patterns else []

    def _kept(self, view: TextView) -> _Kept:
        return view.once((self.NAME, *self.measuring().items()), lambda: self._keep(view))

    def count_lines(self, view: TextView) -> dict[str, int]:
        """datatrove's counts of what becomes of lines."""
        from gristmill.kernels.c4_line_counts import count_lines

        ends = self.drop_lorem_ipsum, self.drop_curly_brackets
        return count_lines(self._pieces(view), view.data, self._line_rules(), *ends)

    def _line_rules(self) -> Rules:
        from gristmill.kernels.c4_lines import NO_LIMIT, Rules

        return Rules(
            NO_LIMIT if self.max_word_length is None else self.max_word_length,
            self.min_words_per_line or 0,
            self.remove_citations,
            self.require_terminal_mark,
            self.drop_javascript_lines,
            self.drop_policy_lines,
        )

    def _pieces(self, view: TextView) -> Any:
        from gristmill.kernels.split_lines import split_lines

        return split_lines(view.offsets, view.data) if self.split_lines else split(self.words, view)

    def _keep(self, view: TextView) -> _Kept:
        from gristmill.kernels.c4_lines import keep_lines
        from gristmill.kernels.c4_words import words_of_lines

        lines = keep_lines(self._pieces(view), view.data, self._line_rules())
        of_lines = TextView(strings(lines.offsets, lines.data))
        if self._splits_words() and view.has_words(DEFAULT):
            words, data = view.words(DEFAULT), of_lines.data
            of_lines.know_words(DEFAULT, lambda: words_of_lines(lines, words, data))
        return _Kept(lines, of_lines)

    def _splits_words(self) -> bool:
        """Whether sentences are made of English words."""
        return self.split_lines and self.min_sentences is not None and self.words == DEFAULT

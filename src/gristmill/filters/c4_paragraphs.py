"""Pages without running text: mC4's rule on paragraphs, decided as datatrove 0.10.1 decides it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from gristmill.filters.aliases import also_known_as
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView


@also_known_as(min_paragraph_len="min_paragraph_length")
@dataclass(frozen=True)
class C4Paragraphs(Filter):
    """Drops a document with fewer than three paragraphs: lines of at least 200 characters, white space counted.

    From section 3.1 of "mT5" (https://arxiv.org/abs/2010.11934) and its code. In datatrove both numbers are fixed:

        min_paragraphs          self.min_paragraphs
        min_paragraph_length    self.min_paragraph_len

    The reason is datatrove's, `< 3 paragraphs`, and says the number that is set. A changed `min_paragraphs` reads no
    text. Dropped: "One line, however long it may be, is not three." (< 3 paragraphs).
    """

    NAME: ClassVar[str] = "c4_paragraphs"

    min_paragraphs: int = 3
    min_paragraph_length: int = 200

    def __post_init__(self) -> None:
        for name in ("min_paragraphs", "min_paragraph_length"):
            bound = getattr(self, name)
            if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
                raise ValueError(f"expected {name}: a whole number from 1 up, found {bound!r}")

    def measuring(self) -> dict[str, Any]:
        """Which lines are paragraphs."""
        return {"min_paragraph_length": self.min_paragraph_length}

    def measure(self, view: TextView) -> Signals:
        """The number of paragraphs."""
        from gristmill.kernels.long_lines import count_long_lines

        return {"c4_paragraphs.paragraphs": count_long_lines(view.offsets, view.data, self.min_paragraph_length)}

    def rules(self) -> list[Rule]:
        """The one."""
        return [Rule("c4_paragraphs.paragraphs", self.min_paragraphs, None, f"< {self.min_paragraphs} paragraphs")]

"""Documents as a fastText classifier labels them: the way of DCLM's quality filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from gristmill.document import buffers, strings
from gristmill.filters import fasttext_file
from gristmill.filters.aliases import also_known_as
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView
from gristmill.formats import resource

_MOST_COLUMNS = 16  # of a model with no more labels, every label's score is kept
_BLANK = " "


@also_known_as(model_url="model", keep_labels="keep", remove_labels="remove")
@dataclass(frozen=True)
class FastTextClassifier(Filter):
    """Keeps a document where any label of `keep` scores at least so much; or where no label of `remove` does.

    DataComp-LM (https://arxiv.org/abs/2406.11794) keeps the tenth of the web that such a model likes best. As
    datatrove's FastTextClassifierFilter, by document, with its names, which are taken too:

        model                 model_url             path or address of a supervised model, .bin or .ftz
        keep                  keep_labels           {label: least score}, labels without __label__
        remove                remove_labels         {label: least score}
        newline_replacement   newline_replacement   what a newline becomes; DCLM wants " ", datatrove joins lines

    White space at both ends is not looked at. With neither `keep` nor `remove`, only what is blank is dropped.
    Signals: `fasttext_classifier.label` and `.score`, the best; `.score_LABEL` of every label, or, in a model of more
    than 16, of those that are named; `.bytes`. Reasons: `empty`, `low_score`, `is_LABEL`. Paragraph by paragraph,
    datatrove's `filter_mode`, is not offered.
    Dropped by `{model: lid.176.ftz, keep: {en: 0.5}}`: "Tout est bien qui finit bien." (low_score).
    """

    NAME: ClassVar[str] = "fasttext_classifier"

    model: str
    keep: Mapping[str, float] | Iterable[Any] | None = None
    remove: Mapping[str, float] | Iterable[Any] | None = None
    newline_replacement: str = ""

    def __post_init__(self) -> None:
        for name in ("keep", "remove"):
            object.__setattr__(self, name, _pairs(name, getattr(self, name)))
        if self._pairs_of("keep") and self._pairs_of("remove"):
            raise ValueError("expected keep or remove, found both; a second filter of the kind takes the other")
        if not isinstance(self.newline_replacement, str) or "\n" in self.newline_replacement:
            raise ValueError(f"expected a newline_replacement without newline, found {self.newline_replacement!r}")
        if not isinstance(self.model, str) or not self.model:
            raise ValueError(f"expected the path or address of a model, found {self.model!r}")
        fasttext_file.check_labels(self._named(), self.model)

    def measuring(self) -> dict[str, Any]:
        """The model, what becomes of newlines, and the labels whose scores are kept."""
        return {**self.contents(), "newline_replacement": self.newline_replacement, "labels": self._columns()}

    def contents(self) -> dict[str, Any]:
        """The model's bytes stand for its path."""
        return {"model": resource.digest(fasttext_file.address_of(self.model))}

    def measure(self, view: TextView) -> Signals:
        """Labels and scores of the texts as the model is to see them."""
        from gristmill.filters.fasttext_predictor import predictor_of

        predictor = predictor_of(self.model)
        columns = self._columns()
        offsets, data = _stripped(view)
        stripped_bytes = np.diff(offsets)
        if self.newline_replacement != _BLANK:  # to fastText a newline inside a text is none of its business; ours
            lines = pc.replace_substring(strings(offsets, data), "\n", self.newline_replacement)
            offsets, data = buffers(lines)
        found = predictor.predict(offsets, data, columns)
        return {
            "fasttext_classifier.bytes": stripped_bytes,
            "fasttext_classifier.label": predictor.named(found.label),
            "fasttext_classifier.score": found.score,
            **{f"fasttext_classifier.score_{label}": found.scores[:, at] for at, label in enumerate(columns)},
        }

    def rules(self) -> list[Rule]:
        """The bounds as far as they are bounds, for reports; `broken_rules` judges."""
        keep, remove = self._pairs_of("keep"), self._pairs_of("remove")
        rules = [Rule("fasttext_classifier.bytes", 1, None, "empty")]
        if len(keep) == 1:
            rules.append(Rule(f"fasttext_classifier.score_{keep[0][0]}", keep[0][1], None, "low_score"))
        for label, score in remove:
            below = float(np.nextafter(score, -1.0))
            rules.append(Rule(f"fasttext_classifier.score_{label}", None, below, f"is_{label}"))
        return rules

    def rule_names(self) -> list[str]:
        """`empty`, then what the labels say."""
        low = ["low_score"] if self._pairs_of("keep") else []
        named = [f"is_{label}" for label, _ in self._pairs_of("remove")]
        return [f"fasttext_classifier.{reason}" for reason in ("empty", *low, *named)]

    def signal_names(self) -> list[str]:
        """Bytes and the scores of the labels that are named."""
        return ["fasttext_classifier.bytes", *(f"fasttext_classifier.score_{label}" for label in self._named())]

    def broken_rules(self, signals: Signals) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """As datatrove; a label that the model says nothing of (NaN) reaches no score."""

        def reaches(label: str, score: float) -> npt.NDArray[np.bool_]:
            found = np.asarray(signals[f"fasttext_classifier.score_{label}"], np.float64)
            return np.asarray(found >= score)

        broken = [("fasttext_classifier.empty", np.asarray(signals["fasttext_classifier.bytes"]) == 0)]
        keep = self._pairs_of("keep")
        if keep:
            kept = np.logical_or.reduce([reaches(label, score) for label, score in keep])
            broken.append(("fasttext_classifier.low_score", ~kept))
        for label, score in self._pairs_of("remove"):
            broken.append((f"fasttext_classifier.is_{label}", reaches(label, score)))
        return broken

    def _pairs_of(self, name: str) -> tuple[tuple[str, float], ...]:
        pairs: Any = getattr(self, name)
        return pairs  # type: ignore[no-any-return]

    def _named(self) -> list[str]:
        return [label for name in ("keep", "remove") for label, _ in self._pairs_of(name)]

    def _columns(self) -> list[str]:
        labels = fasttext_file.opened(self.model).labels
        return list(labels) if len(labels) <= _MOST_COLUMNS else self._named()


def _stripped(view: TextView) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """The texts without white space at either end, end to end."""
    from gristmill.kernels import utf8

    offsets = np.empty(len(view.offsets), np.int64)
    data = np.empty(int(view.offsets[-1] - view.offsets[0]), np.uint8)
    written = utf8.strip(view.offsets, view.data, offsets, data)
    return offsets, data[:written]


def _pairs(name: str, given: Any) -> tuple[tuple[str, float], ...]:
    """A map, a pair, or pairs, as pairs."""
    items = given.items() if isinstance(given, Mapping) else tuple(given or ())
    if items and isinstance(next(iter(items)), str):
        items = (items,)
    pairs = tuple(tuple(item) for item in items if not isinstance(item, str))
    wrong = len(pairs) != len(items) or any(
        len(pair) != 2
        or not isinstance(pair[0], str)
        or isinstance(pair[1], bool)
        or not isinstance(pair[1], (int, float))
        for pair in pairs
    )
    if wrong or len({pair[0] for pair in pairs}) < len(pairs):
        raise ValueError(f"expected {name}: {{label: score}} such as {{hq: 0.018}}, each label once, found {given!r}")
    return pairs

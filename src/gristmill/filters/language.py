"""Documents in other languages, decided as datatrove 0.10.1 decides with the same fastText model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.filters import fasttext_file
from gristmill.filters.aliases import also_known_as
from gristmill.filters.filter import Filter, Rule, Signals
from gristmill.filters.view import TextView
from gristmill.formats import resource

_ANY = "any"
_DECISIVE = 0.51  # where scores are shares of 1, a label with more than that is the best one


@also_known_as(languages="keep", language_threshold="threshold", backend="model")
@dataclass(frozen=True)
class Language(Filter):
    """Keeps a document where a wanted language scores above its threshold (above, not at: so does datatrove).

    From CCNet (https://arxiv.org/abs/1911.00359), with datatrove's threshold. datatrove's names, which are taken too:

        keep        languages            labels of the model (en, or eng_Latn with GlotLID); `any` for all
        threshold   language_threshold   the score to exceed, 0 to 1
        thresholds                       {label: threshold} where one of its own is wanted
        label_only  label_only           judge nobody, keep the columns
        model       backend              lid.176.ftz, ft176 (lid.176.bin), glotlid, or a path or address of a model

    Signals: `language.label` (null where the model has nothing to say) and `language.score`, fastText's best; and
    `language.score_LABEL` of a kept language whose threshold is so low that another may score better. Reasons, where
    datatrove has none: `other`, the best label is not kept; `low_score`, it is, but scores too little. The packaged
    lid.176.ftz stands for lid.176.bin, which datatrove downloads and which decides a little differently.
    `keep_top_pairs_threshold` is not offered. Dropped by `keep: [en]`: "Tout est bien qui finit bien." (other).
    """

    NAME: ClassVar[str] = "language"

    keep: Iterable[str] | str | None = None
    threshold: float = 0.65
    thresholds: Mapping[str, float] | Iterable[tuple[str, float]] = ()
    label_only: bool = False
    model: str = fasttext_file.PACKAGED

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", _labels(self.keep))
        object.__setattr__(self, "thresholds", _pairs(self.thresholds))
        for name, value in (("threshold", self.threshold), *self._own()):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
                raise ValueError(f"expected a threshold from 0 to 1 for {name}, found {value!r}")
        if not isinstance(self.model, str) or not self.model:
            raise ValueError(f"expected the name, path or address of a model, found {self.model!r}")
        named = [label for label, _ in self._own()]
        for label in named if self._kept() is not None else ():
            if label not in (self._kept() or ()):
                raise ValueError(f"expected thresholds of languages that are kept, found one of {label!r}")
        fasttext_file.check_labels([*(self._kept() or ()), *named], self.model)

    def measuring(self) -> dict[str, Any]:
        """The model, and which languages' own scores are needed. Other bounds are judged from label and score."""
        return {**self.contents(), "also": self._asked()}

    def contents(self) -> dict[str, Any]:
        """The model's bytes stand for its path."""
        return {"model": resource.digest(fasttext_file.address_of(self.model))}

    def measure(self, view: TextView) -> Signals:
        """Label and score; a newline in a text counts as a blank."""
        from gristmill.filters.fasttext_predictor import predictor_of

        predictor = predictor_of(self.model)
        asked = self._asked()
        found = predictor.predict(view.offsets, view.data, asked)
        return {
            "language.label": predictor.named(found.label),
            "language.score": found.score,
            **{f"language.score_{label}": found.scores[:, at] for at, label in enumerate(asked)},
        }

    def rules(self) -> list[Rule]:
        """The bound of most languages, for reports; `broken_rules` judges."""
        if self.label_only:
            return []
        return [Rule("language.score", float(np.nextafter(self.threshold, 2.0)), None, "low_score")]

    def rule_names(self) -> list[str]:
        """`other` first, where some languages are kept and others not."""
        if self.label_only:
            return []
        return [*(["language.other"] if self._kept() is not None else []), "language.low_score"]

    def signal_names(self) -> list[str]:
        """Label, score, and the scores that decide beside them."""
        return ["language.label", "language.score", *(f"language.score_{label}" for label in self._asked())]

    def broken_rules(self, signals: Signals) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """As datatrove: keep where any wanted language scores more than its threshold."""
        if self.label_only:
            return []
        labels = pc.cast(signals["language.label"], pa.string())
        score = np.asarray(signals["language.score"], np.float64)
        kept = self._kept()
        if kept is None:
            thresholds = np.full(len(score), self.threshold, np.float64)
            for label, threshold in self._own():
                thresholds[_is(labels, label)] = threshold
            return [("language.low_score", ~(score > thresholds))]
        passes = np.zeros(len(score), np.bool_)
        wanted = np.zeros(len(score), np.bool_)
        for label in kept:
            is_best = _is(labels, label)
            wanted |= is_best
            if label in self._asked():
                of_label = np.asarray(signals[f"language.score_{label}"], np.float64)
                passes |= of_label > self._threshold_of(label)
            else:
                passes |= is_best & (score > self._threshold_of(label))
        return [("language.other", ~passes & ~wanted), ("language.low_score", ~passes & wanted)]

    def name_of(self, metadata: Mapping[str, Any]) -> str:
        """By the language that datatrove found."""
        kept = self._kept()
        return "language.low_score" if kept is None or metadata.get("language") in kept else "language.other"

    def _kept(self) -> tuple[str, ...] | None:
        kept: Any = self.keep
        return kept  # type: ignore[no-any-return]

    def _own(self) -> tuple[tuple[str, float], ...]:
        own: Any = self.thresholds
        return own  # type: ignore[no-any-return]

    def _threshold_of(self, label: str) -> float:
        return dict(self._own()).get(label, self.threshold)

    def _asked(self) -> list[str]:
        """Kept languages that may pass without being the best: under a low threshold, or where scores are no shares."""
        kept = self._kept() or ()
        if not kept or self.label_only:
            return []
        if fasttext_file.opened(self.model).loss in ("hs", "softmax"):
            return sorted(label for label in kept if self._threshold_of(label) < _DECISIVE)
        return sorted(kept)


def _is(labels: Any, label: str) -> npt.NDArray[np.bool_]:
    return pc.equal(labels, label).fill_null(False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _labels(given: Any) -> tuple[str, ...] | None:
    if given is None or given == _ANY:
        return None
    labels = (given,) if isinstance(given, str) else tuple(given)
    if not labels or any(not isinstance(label, str) for label in labels):
        raise ValueError(f"expected keep: a list of languages such as [en, vi], or any, found {given!r}")
    return tuple(dict.fromkeys(labels))


def _pairs(given: Any) -> tuple[tuple[str, float], ...]:
    try:
        pairs = dict(given or ())
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"expected thresholds: {{language: threshold}} such as {{vi: 0.5}}, found {given!r}"
        ) from error
    return tuple(sorted(pairs.items()))

"""Filters by a fastText model: datatrove's file, our reader."""

from __future__ import annotations

import math
from typing import Any

from datatrove.pipeline.filters import fasttext_filter, language_filter
from datatrove.utils import lid
from datatrove.utils.logging import logger

from gristmill.datatrove import stats
from gristmill.datatrove.batches import column_of
from gristmill.datatrove.judging import NO_REASON, JudgesBatches, Verdicts
from gristmill.document import buffers

_LEAST_SCORE = 1e-4  # below it fastText leaves labels out that we score


class LanguageFilter(JudgesBatches, language_filter.LanguageFilter):
    """See gristmill.filters.Language. Scores differ from fastText's in the fifth decimal (docs/fasttext.md)."""

    def judge(self, batch: list[Any], texts: Any) -> Verdicts:
        """By the model that datatrove downloads; documents get its language and score."""
        predictor, asked = self._predictor(), self._asked()
        if predictor is None:
            return self.judge_each(batch)
        found = predictor.predict(*buffers(texts), asked)
        best = [None if label is None else str(label) for label in predictor.named(found.label).to_pylist()]
        wanted = range(len(self.languages or ()))
        verdicts: Verdicts = []
        for row, (document, label, score) in enumerate(zip(batch, best, found.score.tolist(), strict=True)):
            if label is None:
                verdicts += self.judge_each([document])
                continue
            self._describe(document, label, score)
            scores = found.scores[row].tolist()
            if self.keep_top_pairs_threshold != -1:
                self._describe_all(document, dict(zip(asked, scores, strict=True)))
            deciding = [scores[at] for at in wanted] if self.languages else [score]
            kept = self.label_only or any(one > self.language_threshold for one in deciding)
            verdicts.append(None if kept else NO_REASON)
        return verdicts

    def _describe(self, document: Any, label: str, score: float) -> None:
        if self.backend == "glotlid":
            label, document.metadata["language_script"] = label.split("_")
        document.metadata["language"] = label
        document.metadata["language_score"] = score

    def _describe_all(self, document: Any, scores: dict[str, float]) -> None:
        order = scores.items() if self.languages else sorted(scores.items(), key=lambda item: -item[1])
        for label, score in order:
            if score > self.keep_top_pairs_threshold:
                document.metadata[f"top_language_{label}_score"] = score

    def _asked(self) -> list[str]:
        """The labels whose scores are looked at: those that are wanted, or all of them."""
        if self.languages:
            return list(self.languages)
        predictor = self._predictor()
        return [] if predictor is None or self.keep_top_pairs_threshold == -1 else list(predictor.labels)

    def _predictor(self) -> Any:
        """The model, ready; None for arguments with which datatrove's own has to judge."""
        if "_ready" not in self.__dict__:
            self._ready = self._open()
        return self._ready

    def _open(self) -> Any:
        from gristmill.filters.fasttext_predictor import predictor_of

        pairs = self.keep_top_pairs_threshold
        path = lid.cached_asset_path_or_download(
            self.model.MODEL_URL,
            namespace="lid",
            subfolder=self.model.MODEL_SUBFOLDER,
            desc="fast-text language identifier model",
        )
        predictor = predictor_of(path)
        unknown = [label for label in self.languages or () if label not in predictor.labels]
        low = [bound for bound in (self.language_threshold, pairs) if bound < _LEAST_SCORE and bound != -1]
        if unknown or low or self.languages == []:
            why = (
                f"labels {unknown} that the model does not know" if unknown else f"a threshold of {low}, or no language"
            )
            logger.warning(f"{self!r} judges one document at a time, as datatrove's own does: it has {why}")
            return None
        return predictor


class FastTextClassifierFilter(JudgesBatches, fasttext_filter.FastTextClassifierFilter):
    """See gristmill.filters.FastTextClassifier. By paragraph or sentence, as datatrove does it, at its speed."""

    def judge(self, batch: list[Any], texts: Any) -> Verdicts:
        """By the model that datatrove downloads; what is dropped has no text left, as there."""
        if self.filter_mode != fasttext_filter.SPLIT_TEXT_DOCUMENTS or "\n" in self.newline_replacement:
            return self.judge_each(batch)
        predictor = self._predictor()
        seen = column_of([document.text.strip().replace("\n", self.newline_replacement) for document in batch])
        asked = list(predictor.labels)
        found = predictor.predict(*buffers(seen), asked)
        verdicts: Verdicts = []
        for document, row in zip(batch, found.scores.tolist(), strict=True):
            scores = {label: score for label, score in zip(asked, row, strict=True) if not math.isnan(score)}
            passes = self._passes(scores)
            stats.count(self, "kept_span" if passes else "removed_span", 1)
            if not passes:
                document.text = ""
            if self.save_labels_in_metadata:
                ordered = sorted(scores.items(), key=lambda item: -item[1])
                document.metadata.update({f"__label__{label}": score for label, score in ordered})
            verdicts.append(None if document.text.strip() else NO_REASON)
        return verdicts

    def _passes(self, scores: dict[str, float]) -> bool:
        if self.keep_labels:
            return any(scores.get(label, -math.inf) >= least for label, least in self.keep_labels)
        return not any(scores.get(label, -math.inf) >= least for label, least in self.remove_labels or ())

    def _predictor(self) -> Any:
        if "_ready" not in self.__dict__:
            from gristmill.filters.fasttext_predictor import predictor_of

            path = fasttext_filter.cached_asset_path_or_download(
                self.model_url, namespace="filters", subfolder="fasttext", desc="fast-text model"
            )
            self._ready = predictor_of(path)
            for label, _ in self.keep_labels or self.remove_labels or ():
                if label not in self._ready.labels:
                    raise ValueError(f"expected one of the model's labels {self._ready.labels}, found {label!r}")
        return self._ready

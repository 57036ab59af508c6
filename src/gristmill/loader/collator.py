"""Rows of tensors → a batch: the one collator of all four ways.

What enters: items with `input_ids`, `labels` and `position_ids`, of one length or of several. What leaves: a batch as
loader/collate.py describes it, without `rows`. Guaranteed: padding is a part of its own, with labels of -100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from gristmill.loader.collate import IGNORED, Batch

COLUMNS = ("input_ids", "labels", "position_ids")  # one shape for every row, so any collator can stack them


@dataclass(frozen=True)
class Collator:
    """Stacks rows, filling up to the longest of them, or to `pad_to` tokens."""

    pad_id: int = 0
    pad_to: int | None = None

    def __call__(self, items: Sequence[Batch]) -> Batch:
        """The batch of these items, in their order. Raises ValueError for an item longer than `pad_to`."""
        lengths = [len(item["input_ids"]) for item in items]
        row_tokens = self.pad_to or max(lengths)
        if max(lengths) > row_tokens:
            raise ValueError(f"expected rows of up to {row_tokens} tokens, found one of {max(lengths)}")
        if min(lengths) == row_tokens:
            columns = [torch.stack([item[name] for item in items]) for name in COLUMNS]
        else:
            columns = self._filled_up(items, lengths, row_tokens)
        batch: Batch = dict(zip(COLUMNS, columns, strict=True))
        begins = torch.nonzero(batch["position_ids"].reshape(-1) == 0).reshape(-1)
        bounds = torch.cat([begins, torch.tensor([batch["position_ids"].numel()])])
        return {**batch, "cu_seqlens": bounds.to(torch.int32), "max_seqlen": int(bounds.diff().max())}

    def _filled_up(self, items: Sequence[Batch], lengths: list[int], row_tokens: int) -> list[torch.Tensor]:
        input_ids = torch.full((len(items), row_tokens), self.pad_id)
        labels = torch.full_like(input_ids, IGNORED)
        position_ids = torch.empty_like(input_ids)
        padding = torch.arange(row_tokens)
        for row, (item, length) in enumerate(zip(items, lengths, strict=True)):
            input_ids[row, :length] = item["input_ids"]
            labels[row, :length] = item["labels"]
            position_ids[row, :length] = item["position_ids"]
            position_ids[row, length:] = padding[: row_tokens - length]
        return [input_ids, labels, position_ids]

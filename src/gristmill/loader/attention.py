"""Which token may attend to which: the document bounds of a batch, as attention functions take them.

What enters: a batch of tensors, from any of the four ways. What leaves: causal masks within documents.
What is guaranteed: no token attends across documents, and every token attends at least to itself, padding too, so
that no softmax is over nothing.

Variable-length attention (FlashAttention's) needs no mask: it takes the batch's `cu_seqlens` and `max_seqlen`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch

from gristmill.loader.collate import Batch

MaskFunction: TypeAlias = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def document_ids(batch: Batch) -> torch.Tensor:
    """(rows, tokens) int32: which document part of its row each token is in, from 0; padding is the last one.

    Rows that are longer documents' continuations count from 0 too: parts of different rows never meet.
    """
    begins = batch["position_ids"] == 0
    return begins.cumsum(1, dtype=torch.int32) - 1


def block_mask(batch: Batch) -> torch.Tensor:
    """(rows, 1, tokens, tokens) bool, true where query (third axis) may attend to key: SDPA's `attn_mask`."""
    document = document_ids(batch)
    same = document[:, :, None] == document[:, None, :]
    return same.tril_()[:, None]


def flex_attention_mask(batch: Batch) -> MaskFunction:
    """The same as a `mask_mod` for `torch.nn.attention.flex_attention.create_block_mask`."""
    document = document_ids(batch)

    def may_attend(row: torch.Tensor, head: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        return (document[row, query] == document[row, key]) & (query >= key)

    return may_attend

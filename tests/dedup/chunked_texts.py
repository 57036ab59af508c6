"""Texts in chunks of batches, as cutting deduplicators take them."""

from __future__ import annotations


def in_chunks(texts: list[str], chunk: int, batch: int) -> list[list[list[str]]]:
    """Batches of `batch` texts, chunks of `chunk` batches."""
    batches = [texts[at : at + batch] for at in range(0, len(texts), batch)]
    return [batches[at : at + chunk] for at in range(0, len(batches), chunk)]

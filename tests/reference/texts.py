"""Slow, obvious twins of kernels/utf8.py, kernels/hashing.py and the exact deduplicator."""

from __future__ import annotations

import xxhash


def repair(raw: bytes) -> str:
    return repair_keeping_nul(raw).replace("\0", "")


def repair_keeping_nul(raw: bytes) -> str:
    return raw.decode("utf-8", errors="ignore")


def strip(text: str) -> str:
    return text.strip()


def count_words(text: str) -> int:
    return len(text.split())


def hash_text(text: str) -> tuple[int, int]:
    return hash_bytes(text.encode())


def hash_bytes(raw: bytes) -> tuple[int, int]:
    return xxhash.xxh64_intdigest(raw, 0), xxhash.xxh64_intdigest(raw, 0x9E3779B97F4A7C15)


def first_of_equal(texts: list[str]) -> dict[int, int]:
    """Index of each duplicate → index of the first equal text."""
    first: dict[str, int] = {}
    gone = {}
    for index, text in enumerate(texts):
        if first.setdefault(text, index) != index:
            gone[index] = first[text]
    return gone

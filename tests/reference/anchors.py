"""Slow, obvious twin of kernels/anchors.py: for each window the key in it with the smallest rolling hash, the last
one of several; neighbouring windows with one anchor are told together."""

from __future__ import annotations

from itertools import groupby

import xxhash

from reference.texts import hash_bytes

BASE = 0xD6E8FEB86659FD93


def rolling_hash(key: bytes) -> int:
    value = 0
    for byte in key:
        value = (value * BASE + byte) % 2**64
    return value


def anchors(document: bytes, window_bytes: int, key_bytes: int) -> list[tuple[int, int, int, int, int]]:
    """(hash of the key, hash of the context, first window, distance to the anchor, windows) for each anchor."""
    hashes = [rolling_hash(document[at : at + key_bytes]) for at in range(len(document) - key_bytes + 1)]

    def anchor_of(window: int) -> int:
        inside = range(window, window + window_bytes - key_bytes + 1)
        return min(inside, key=lambda at: (hashes[at], -at))

    found = []
    for anchor, group in groupby(range(len(document) - window_bytes + 1), anchor_of):
        windows = list(group)
        context = document[windows[0] : windows[-1] + window_bytes]
        found.append((hashes[anchor], xxhash.xxh64_intdigest(context), windows[0], anchor - windows[0], len(windows)))
    return found


def blocks(
    document: bytes, anchor: int, windows: range, window_bytes: int, block_windows: int
) -> list[tuple[int, int, int, int]]:
    """(hash of the key, hash of the context, first window, windows) for each block of an anchor's windows."""
    found = []
    for number, group in groupby(windows, lambda window: (anchor - window) // block_windows):
        inside = list(group)
        whole_block = range(anchor - number * block_windows - block_windows + 1, anchor - number * block_windows + 1)
        key = document[whole_block[-1] : whole_block[0] + window_bytes]
        context = document[inside[0] : inside[-1] + window_bytes]
        hashes = hash_bytes(key)[0], hash_bytes(context)[1]
        found.append((*hashes, inside[0], len(inside)))
    return found

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xxhash
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prose_texts import LONG
from prose_texts import texts as any_texts

from gristmill.document import buffers, large_strings
from gristmill.kernels.anchors import COUNT_BITS, find_anchors, hash_windows, key_bytes_of
from gristmill.kernels.hashing import SEED_HIGH, SEED_LOW
from reference import anchors as twin

few_letters: Any = st.lists(st.sampled_from(["a", "b", "aaaaaa", "ab", "é"]), max_size=40).map("".join)


@settings(max_examples=200)
@given(st.lists(st.one_of(few_letters, any_texts), max_size=4), st.integers(2, 20), st.integers(0, 9))
@example(["a" * 300, "", "ab" * 100, "x", "\0" * 50], 8, 0)
def test_equals_its_twin(texts: list[str], window_bytes: int, first_byte: int) -> None:
    found = find_anchors(*buffers(large_strings(["before", *texts]).slice(1)), first_byte, window_bytes)
    expected, repeats = [], []
    start = first_byte
    for text in texts:
        previous: Any = None
        for key, context, window, windows in twin.anchors(text.encode(), window_bytes, key_bytes_of(window_bytes)):
            if (key, context) == previous:
                repeats += range(start + window, start + window + windows)
            else:
                expected.append((key, context, (start + window) << COUNT_BITS | windows))
            previous = (key, context)
        start += len(text.encode())
    assert list(zip(found.key.tolist(), found.context.tolist(), found.place.tolist(), strict=True)) == expected
    assert [at for place in found.repeats.tolist() for at in _windows(place)] == repeats


def _windows(place: int) -> range:
    first = place >> COUNT_BITS
    return range(first, first + place % (1 << COUNT_BITS))


@given(st.binary(min_size=5, max_size=60), st.integers(2, 5), st.integers(0, 7))
def test_windows_are_hashed_whole(data: bytes, window_bytes: int, first_byte: int) -> None:
    windows = len(data) - window_bytes + 1
    places = np.array([first_byte << COUNT_BITS | 1, (first_byte + 1) << COUNT_BITS | (windows - 1)], np.int64)
    low, high, start = hash_windows(np.frombuffer(data, np.uint8), places, first_byte, window_bytes)
    pieces = [data[at : at + window_bytes] for at in range(windows)]
    assert start.tolist() == list(range(first_byte, first_byte + windows))
    assert low.tolist() == [xxhash.xxh64_intdigest(piece, int(SEED_LOW)) for piece in pieces]
    assert high.tolist() == [xxhash.xxh64_intdigest(piece, int(SEED_HIGH)) for piece in pieces]


@pytest.mark.parametrize("name", LONG)
def test_anchors_are_few(name: str) -> None:
    """In text with a period none but the first; else two for each distance between windows and keys."""
    text = LONG[name].encode()
    found = find_anchors(*buffers(large_strings([LONG[name]])), 0, 200)
    assert len(found.key) + len(found.repeats) < 3 * len(text) / 100
